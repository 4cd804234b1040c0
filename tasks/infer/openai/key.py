"""The API key of an endpoint: where it is kept, its text, and the hosts that it may be sent to."""

from __future__ import annotations

from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contrapose.tasks.config.hosts import HostRule, Origin, list_variable_entries, origin_of, read_rule
from contrapose.tasks.config.model_spec import ModelSpec
from contrapose.tasks.core.errors import ConfigError, ModelError
from contrapose.tasks.core.secrets import BLOCK, SCHEME, read_block, read_environment_secret
from contrapose.tasks.core.secrets import VARIABLE as NAME
from contrapose.tasks.infer.openai.entra import read_token
from contrapose.tasks.infer.openai.vendors import OPENAI, ROWS, Vendor, find_vendor

HOSTS = "CONTRAPOSE_KEY_HOSTS"
"""Variable that names further hosts, each as `host`, for OpenAI's key, or as `<variable>=host` or
`secret://<block>=host`, for another one."""

NO_KEY = "none"
"""Key of the client for a server that wants no key; as `api_key_env`, it says that no key is to be sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """An API key, and the hosts that it may be sent to."""

    place: str
    """The variable that it is kept in, or `secret://<block>`."""
    text: str = field(repr=False)
    """The key itself; empty if there is none."""
    hosts: tuple[HostRule, ...]
    """Hosts that are named next to the key."""
    owner: Vendor | None
    """The vendor whose own hosts may have it, too."""

    def is_for(self, origin: Origin | None) -> bool:
        """Return whether the key may be sent to an origin."""
        if origin is None:
            return False
        own = self.owner is not None and self.owner.may_have_key(origin)
        return own or any(rule.allows(origin) for rule in self.hosts)


class BoundKey(BaseModel):
    """Content of a Prefect Secret block that names the hosts of its key."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True, str_strip_whitespace=True)

    key: str = Field(min_length=1, repr=False)
    hosts: tuple[str, ...] = Field(min_length=1)


def describe_key_place(spec: ModelSpec) -> str:
    """Return where the key is kept, in words."""
    place = _find_key_place(spec)
    if spec.args.get("entra"):
        return "a token of Microsoft Entra ID"
    if place.startswith(SCHEME):
        return f"Prefect Secret block {place.removeprefix(SCHEME)}"
    return f"environment variable {place}" if place else "model_args.api_key_env"


def read_key(spec: ModelSpec, *, base_url: str) -> str:
    """Return the API key, or raise ModelError if the host may not have it; a server of your own may need none.

    Parameters of a run, such as `base_url`, never decide where a key goes: its owner names the hosts next to it.
    """
    place, origin, vendor = _find_key_place(spec), origin_of(base_url), find_vendor(spec)
    if spec.args.get("entra"):
        _refuse_foreign(spec, Key(place=vendor.key, text="", hosts=_list_named_hosts(vendor.key), owner=vendor), origin)
        return read_token(where=spec.id)
    if not place:
        return NO_KEY
    key = _read_key_at(place)
    if place != vendor.key:
        # Whether or not it is set: a parameter may name any variable, and what that holds is not told.
        _refuse_foreign(spec, key, origin)
    if not (key.text.isascii() and key.text.isprintable()):
        raise ModelError(
            f"{describe_key_place(spec)} holds characters that no HTTP header may have",
            expected="printable ASCII",
            remedy=f"Set it again, without blanks or line breaks: export {key.place}=…",
            where=spec.id,
        )
    if not key.text and (vendor.wants_key(origin) or "api_key_env" in spec.args):
        entra = ", set model_args.entra=true" if "entra" in vendor.arguments else ""
        raise ModelError(
            f"{describe_key_place(spec)} is not set",
            expected="an API key in it",
            remedy=f"export {key.place}=…{entra}, name a Prefect Secret block as model_args.api_key_block, or set "
            "model_args.base_url for a server of your own.",
            where=spec.id,
        )
    is_asked_for = vendor.needs_key or key.is_for(origin) or {"api_key_env", "api_key_block"} & spec.args.keys()
    if not key.text or not is_asked_for:
        return NO_KEY
    _refuse_foreign(spec, key, origin)
    return key.text


def read_header(place: str, *, address: str, where: str) -> str:
    """Return a secret for a header that you set, or raise ConfigError if its host may not have it."""
    key, origin = _read_key_at(place, where=where), origin_of(address)
    if not key.is_for(origin):
        raise ConfigError(
            f"{place} is no secret for {origin}",
            expected="a host that is named for this secret",
            remedy=f"Nothing was sent. If that host may have it, set {HOSTS}={place}={origin} where the run "
            "takes place.",
            where=where,
        )
    if not (key.text and key.text.isascii() and key.text.isprintable()):
        raise ConfigError(
            f"{place} is not set, or is no text for a header",
            expected="printable ASCII",
            remedy="Set it where the run takes place.",
            where=where,
        )
    return key.text


def is_for_openai_key(base_url: str) -> bool:
    """Return whether OpenAI's key and its other settings in the environment may be used for an address."""
    return Key(place=OPENAI.key, text="", hosts=_list_named_hosts(OPENAI.key), owner=OPENAI).is_for(origin_of(base_url))


def _find_key_place(spec: ModelSpec) -> str:
    """Return where the key is kept: a variable, `secret://<block>`, or empty if no key is sent."""
    variable, block = spec.args.get("api_key_env", find_vendor(spec).key), spec.args.get("api_key_block")
    if block is None:
        # An empty field of a form, and `null` in a file, say the same.
        return "" if variable in (None, "", NO_KEY) else str(variable)
    if "api_key_env" in spec.args:
        raise ModelError(
            "api_key_env and api_key_block are both set",
            expected="one place of the key",
            remedy="Remove one of them.",
            where="model_args",
        )
    return f"{SCHEME}{block}"


def _read_key_at(place: str, *, where: str = "") -> Key:
    """Return the key at a place with the hosts that are named next to it; `where`: the setting that names the place.

    A block holds a text, or `{"key": "…", "hosts": ["…"]}`.
    """
    if not place.startswith(SCHEME):
        text = read_environment_secret(place, where=where or "model_args.api_key_env")
        owner = next((row for row in ROWS if row.key == place), None)
        return Key(place=place, text=text, hosts=_list_named_hosts(place), owner=owner)
    name, where = place.removeprefix(SCHEME), where or "model_args.api_key_block"
    value = read_block(name, where=where)
    if isinstance(value, str) and not value.lstrip().startswith("{"):
        return Key(place=place, text=value.strip(), hosts=_list_named_hosts(place), owner=OPENAI)
    try:
        bound = BoundKey.model_validate_json(value) if isinstance(value, str) else BoundKey.model_validate(value)
    except ValidationError:
        # Without its cause, which repeats the value.
        raise ConfigError(
            f"Prefect Secret block {name!r} holds neither a text nor a key with its hosts",
            expected='the key as text, or {"key": "…", "hosts": ["models.example:8000"]}',
            remedy="Save the block again in the Prefect UI under Blocks.",
            where=where,
        ) from None
    hosts = [read_rule(entry, where=f"hosts of Prefect Secret block {name}") for entry in bound.hosts]
    return Key(place=place, text=bound.key, hosts=(*_list_named_hosts(place), *hosts), owner=None)


def _list_named_hosts(place: str) -> tuple[HostRule, ...]:
    """Return the hosts that the environment names for the key at a place."""
    read = [read_entry(entry, where=HOSTS) for entry in list_variable_entries(HOSTS)]
    return tuple(rule for named, rule in read if named == place)


def read_entry(entry: str, *, where: str) -> tuple[str, HostRule]:
    """Return the place of a key and its host from an entry of HOSTS; `where`: the place of the entry.

    An entry is `host`, which is for OpenAI's key, `<variable>=host` or `secret://<block>=host`.
    ConfigError: it is none of these.
    """
    place, equals, host = entry.rpartition("=")
    block = place.removeprefix(SCHEME) if place.startswith(SCHEME) else None
    if equals and not (NAME.fullmatch(place) if block is None else BLOCK.fullmatch(block)):
        raise ConfigError(
            f"{place!r} is no place of a key",
            expected=f"<variable>=host or {SCHEME}<block>=host",
            remedy=f"Write {HOSTS}=<host>, or {HOSTS}=<variable>=<host>.",
            where=where,
        )
    return (place if equals else OPENAI.key), read_rule(host, where=where)


def _refuse_foreign(spec: ModelSpec, key: Key, origin: Origin | None) -> None:
    if key.is_for(origin):
        return
    own = key.owner.own_addresses if key.owner else ""
    entry = f"{origin}" if key.place == OPENAI.key else f"{key.place}={origin}"
    raise ModelError(
        f"{describe_key_place(spec)} is no key for {origin}",
        expected=f"{own}a host that is named for this key",
        remedy=f"Nothing was sent. If that host may have the key, set {HOSTS}={entry} where the run takes place. If it "
        f"needs no key, set model_args.api_key_env={NO_KEY}.",
        where=spec.id,
    )
