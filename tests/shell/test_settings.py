"""Settings, and that the document lists them all."""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from pydantic import ValidationError
from pydantic.fields import FieldInfo

import gateway
import services
from services.kit.shell.settings import PREFIX, ProcessSettings, ServiceSettings

DOCUMENT = Path(__file__).parents[2] / "docs" / "configuration.md"


def settings_classes() -> list[type[ProcessSettings]]:
    """Every settings class in a module named `settings`, the base first."""
    for package in (services, gateway):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if module.name.endswith(".settings"):
                importlib.import_module(module.name)
    found: list[type[ProcessSettings]] = [ProcessSettings]
    for known in found:
        found.extend(known.__subclasses__())
    return [known for known in found if known.__module__.partition(".")[0] in {"services", "gateway"}]


def shown(field: FieldInfo) -> str:
    return "" if field.default in (None, "") else f"`{field.default}`"


def rows_of(kind: type[ProcessSettings]) -> set[tuple[str, str, str]]:
    """(variable, default, meaning) of the settings that *kind* adds or changes."""
    return {
        (f"`{PREFIX}{name.upper()}`", shown(kind.model_fields[name]), str(kind.model_fields[name].description))
        for name in kind.__annotations__
        if name in kind.model_fields
    }


def test_the_document_lists_every_setting_and_no_other() -> None:
    """docs/configuration.md has a row for each setting of each class: variable, default, meaning, word for word."""
    text = DOCUMENT.read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| (`TORTUGA_\w+`) \| ?(.*?) ?\| (.*?) \|$", text, flags=re.MULTILINE))
    assert rows == set().union(*map(rows_of, settings_classes()))


def test_every_setting_has_a_meaning() -> None:
    """Each field is described, in a sentence."""
    for kind in settings_classes():
        for name, field in kind.model_fields.items():
            assert (field.description or "").endswith("."), f"{kind.__name__}.{name}"


def test_the_environment_sets_them(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A variable is the prefix and the field's name; an empty one counts as not set."""
    monkeypatch.setenv("TORTUGA_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("TORTUGA_GRPC_PORT", "0")
    monkeypatch.setenv("TORTUGA_CLOCK", "")
    monkeypatch.setenv("TORTUGA_CLOCK_SKEW", "20")
    settings = ServiceSettings()
    assert settings.grpc_port == 0
    assert settings.clock is None
    assert settings.clock_skew == 20
    assert settings.store_path("nim") == tmp_path / "data" / "nim.db"
    assert (tmp_path / "data").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(("name", "value"), [("GRPC_PORT", "70000"), ("LOG_LEVEL", "loud"), ("DRAIN_SECONDS", "60")])
def test_a_value_that_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """Ranges are checked when the process starts."""
    monkeypatch.setenv(f"TORTUGA_{name}", value)
    with pytest.raises(ValidationError):
        ServiceSettings()
