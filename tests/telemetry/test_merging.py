from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from zurelay.telemetry.merging import merged


def scrape(requests: int, *, streams: int | None = None) -> bytes:
    registry = CollectorRegistry()
    counter = Counter("asked", "Requests, all\nof them.", ("model",), registry=registry)
    counter.labels('a "b" {c} d').inc(requests)
    if streams is not None:
        Gauge("open_streams", "Streams.", registry=registry).set(streams)
    return generate_latest(registry)


def read(text: bytes) -> dict[tuple[str, str, str], float]:
    return {
        (sample.name, sample.labels["worker"], sample.labels.get("model", "")): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
        if not sample.name.endswith("_created")
    }


def test_every_sample_says_whose_it_is() -> None:
    assert read(merged({"1": scrape(3, streams=2), "2": scrape(5, streams=7)}, "worker")) == {
        ("asked_total", "1", 'a "b" {c} d'): 3,
        ("asked_total", "2", 'a "b" {c} d'): 5,
        ("open_streams", "1", ""): 2,
        ("open_streams", "2", ""): 7,
    }


def test_a_family_is_described_once_and_its_samples_stand_together() -> None:
    text = merged({"1": scrape(3, streams=2), "2": scrape(5)}, "worker").decode()
    names = [line.split("{")[0].split(" ")[-2 if line.startswith("#") else 0]
             for line in text.split("\n") if line and not line.startswith("# HELP")]  # fmt: skip
    assert text.count("# TYPE asked_total counter") == text.count("# HELP asked_total") == 1
    assert names == sorted(names, key=names.index)
    assert text.endswith("\n")


def test_one_that_only_one_process_has_is_kept() -> None:
    assert ("open_streams", "2", "") in read(
        merged({"1": scrape(3), "2": scrape(5, streams=1)}, "worker")
    )


def test_of_nobody_there_is_nothing_to_tell() -> None:
    assert merged({}, "worker") == b""
    assert merged({"1": b""}, "worker") == b""
