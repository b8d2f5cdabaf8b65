"""The deadlines of a request.

Numbers only: what happens when one passes stands in the machine.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Timing:
    """How long everything may take, in seconds; `[streaming]` and `[routing]` of the settings.

    Attributes:
        early_open_s: a stream opens without a token after this long.
        keep_alive_s: silence on an open stream that is filled.
        start_deadline_s: an attempt's first token; the longer one at high effort.
        idle_deadline_s: an attempt's next event after that; the longer one at high effort.
        request_deadline_s: a whole plain answer; for streams, the wait for the first token over
            all routes.
        stream_max_s: a whole stream, from its first token.
        attempts: most tries of all routes together, second tries included.
        retry_s: pause before a second try on the same route, spread from half to one and a half.
        rest_wait_s: longest wait for resting routes when nothing else is left.
        tail_deadline_s: what may follow a finish reason; then the answer is taken as whole.
        hedge: whether a second route may be started beside a slow first one.
    """

    early_open_s: float = 20.0
    keep_alive_s: float = 15.0
    start_deadline_s: float = 180.0
    start_deadline_high_effort_s: float = 300.0
    idle_deadline_s: float = 180.0
    idle_deadline_high_effort_s: float = 300.0
    request_deadline_s: float = 570.0
    stream_max_s: float = 3600.0
    attempts: int = 6
    retry_s: float = 0.1
    rest_wait_s: float = 5.0
    tail_deadline_s: float = 10.0
    hedge: bool = False
