"""Ways to run work in other processes: a program that `test_processes.py` runs, and that processes import."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Callable

import playhead

WORKERS = 2
WAYS: dict[str, Callable[[str], None]] = {}
queue: Any = None


def way(run: Callable[[str], None]) -> Callable[[str], None]:
    WAYS[run.__name__] = run
    return run


@playhead.record_action("work")
def work(number: int) -> int:
    return number


@playhead.record_action("wait")
def wait_long(pipe: Any) -> None:
    pipe.send("waiting")
    time.sleep(60)


def handle(tag: str, number: int = 0) -> int:
    """Inside a session, work is a part of it; outside, it is a session of its own."""
    if not tag.endswith("outside"):
        return work(number)
    with playhead.session("child", tags=[tag]):
        return work(number)


def handle_numbered(item: tuple[str, int]) -> int:
    return handle(*item)


class Worker(multiprocessing.Process):
    """Overrides `run`, as programs do."""

    def __init__(self, tag: str, number: int) -> None:
        super().__init__()
        self._item = (tag, number)

    def run(self) -> None:
        handle(*self._item)


@way
def fork_by_hand(tag: str) -> None:
    for number in range(WORKERS):
        child = os.fork()
        if child == 0:
            handle(tag, number)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0


@way
def fork_that_falls_through(tag: str) -> None:
    """The child leaves the blocks that the parent entered, as after an exception."""
    try:
        child = os.fork()
        if child == 0:
            handle(tag, 0)
            sys.exit(0)
    except SystemExit:
        raise
    assert os.waitpid(child, 0)[1] == 0
    handle(tag, 1)


def handle_both(tag: str) -> None:
    for number in range(WORKERS):
        handle(tag, number)


def run_process(tag: str, method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    process = context.Process(target=handle_both, args=(tag,))
    process.start()
    process.join()
    assert process.exitcode == 0


@way
def process_fork(tag: str) -> None:
    run_process(tag, "fork")


@way
def process_spawn(tag: str) -> None:
    run_process(tag, "spawn")


@way
def process_forkserver(tag: str) -> None:
    run_process(tag, "forkserver")


@way
def process_class(tag: str) -> None:
    for number in range(WORKERS):
        process = Worker(tag, number)
        process.start()
        process.join()


@way
def pool_fork(tag: str) -> None:
    # Leaving the block terminates its processes.
    with multiprocessing.get_context("fork").Pool(WORKERS) as pool:
        assert pool.map(handle_numbered, [(tag, number) for number in range(WORKERS)]) == [0, 1]


@way
def pool_spawn(tag: str) -> None:
    pool = multiprocessing.get_context("spawn").Pool(1)
    assert pool.apply_async(handle, (tag, 0)).get() == 0
    assert list(pool.imap_unordered(handle_numbered, [(tag, 1)])) == [1]
    pool.close()
    pool.join()


@way
def executor_fork(tag: str) -> None:
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("fork")) as executor:
        assert list(executor.map(handle, [tag] * WORKERS, range(WORKERS))) == [0, 1]


@way
def executor_spawn(tag: str) -> None:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        assert [executor.submit(handle, tag, number).result() for number in range(WORKERS)] == [0, 1]


@way
def prefork_server(tag: str) -> None:
    """As gunicorn: workers with a handler of their own for SIGTERM, ended by it when idle."""
    children = []
    for number in range(WORKERS):
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            handle(tag, number)
            os.write(writing, b"x")
            while True:
                signal.pause()
        os.read(reading, 1)
        children.append(child)
    for child in children:
        os.kill(child, signal.SIGTERM)
        assert os.waitpid(child, 0)[1] == 0


def serve_queue(tasks: Any, answers: Any) -> None:
    for tag, number, headers in iter(tasks.get, None):
        with playhead.continue_session(headers):
            answers.put(handle(tag, number))


@way
def queue_workers(tag: str) -> None:
    """As Celery: workers that were started long before get tasks with the session in their headers."""
    for number in range(WORKERS):
        queue.tasks.put((tag, number, playhead.session_headers()))
    assert sorted(queue.answers.get() for _ in range(WORKERS)) == [0, 1]


class Queue:
    def __init__(self) -> None:
        context = multiprocessing.get_context("fork")
        self.tasks, self.answers = context.Queue(), context.Queue()
        arguments = (self.tasks, self.answers)
        self._workers = [context.Process(target=serve_queue, args=arguments) for _ in range(WORKERS)]
        for worker in self._workers:
            worker.start()

    def stop(self) -> None:
        for worker in self._workers:
            worker.terminate()
            worker.join()


@way
def program_with_the_environment(tag: str) -> None:
    code = f"import playhead; playhead.init(); import process_matrix as m; m.handle_both({tag!r})"
    environment = {**os.environ, **playhead.session_environment()}
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)


def work_and_wait(tag: str, pipe: Any) -> None:
    work(0)
    work(1)
    wait_long(pipe)


def work_and_wait_outside(tag: str, pipe: Any) -> None:
    with playhead.session("child", tags=[tag]):
        work_and_wait(tag, pipe)


def stop_process(tag: str, how: str, method: str) -> None:
    context: Any = multiprocessing.get_context(method)
    receiving, sending = context.Pipe()
    target = work_and_wait_outside if tag.endswith("outside") else work_and_wait
    process = context.Process(target=target, args=(tag, sending))
    process.start()
    assert receiving.recv() == "waiting"
    getattr(process, how)()
    process.join()


@way
def process_terminated(tag: str) -> None:
    stop_process(tag, "terminate", "fork")


@way
def spawned_process_terminated(tag: str) -> None:
    stop_process(tag, "terminate", "spawn")


@way
def process_killed(tag: str) -> None:
    stop_process(tag, "kill", "fork")


def main(chosen: list[str]) -> None:
    global queue
    found = {}
    for name in chosen:
        # Before the session, outside of any.
        queue = Queue() if name == "queue_workers" else None
        tag = f"{name} {os.getpid()}"
        with playhead.session(name, tags=[f"{tag} inside"]) as session:
            work(-1)
            WAYS[name](f"{tag} inside")
            work(-2)
        WAYS[name](f"{tag} outside")
        found[name] = session.id
        if queue is not None:
            queue.stop()
    assert playhead.flush()
    print(json.dumps({"run": os.getpid(), "sessions": found}))


if __name__ == "__main__":
    playhead.init()
    main(sys.argv[1:] or list(WAYS))
