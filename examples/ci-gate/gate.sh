#!/bin/sh
# Gate a merge: a failure stops it, too little evidence is a warning.
contrapose run --suite suite.yaml --quiet --max-calls 200
code=$?
case $code in
    0) echo "Merge." ;;
    3 | 4) echo "Warning: no clear verdict (exit code $code)." && exit 0 ;;
    *) echo "Do not merge (exit code $code)." && exit "$code" ;;
esac
