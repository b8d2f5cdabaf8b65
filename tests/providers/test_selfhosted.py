from zurelay.providers.selfhosted import SELF_HOSTED


def test_platform_fields_are_never_sent_to_servers_of_ones_own() -> None:
    for row in SELF_HOSTED:
        assert {"store", "service_tier", "prompt_cache_key"} <= row.profile.refuses


def test_each_server_has_its_own_default_port() -> None:
    assert len({row.base_url for row in SELF_HOSTED}) == len(SELF_HOSTED) == 5
