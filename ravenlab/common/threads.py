"""Running tasks in threads."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

JOIN_SECONDS = 0.5  # in short intervals, so that an interrupt is handled at once on every platform


def run_in_threads(task: Callable[..., Any], calls: Sequence[tuple[Any, ...]], jobs: int) -> list[Any]:
    """Return the result of a task for each call, computed in threads; the first error ends the run.

    Fewer threads run if the memory does not suffice for more. A thread that ends early for lack of memory raises
    MemoryError here; thread pools of the standard library and joblib wait forever for its result.

    >>> run_in_threads(divmod, [(7, 2), (9, 4)], jobs=2)
    [(3, 1), (2, 1)]
    """
    results: dict[int, Any] = {}
    errors: list[BaseException] = []
    numbers = iter(range(len(calls)))

    def work() -> None:
        try:
            while not errors and (number := next(numbers, None)) is not None:
                results[number] = task(*calls[number])
        except BaseException as error:
            errors.append(error)

    threads = []
    for _ in range(min(jobs, len(calls))):
        thread = threading.Thread(target=work, daemon=True)
        try:
            thread.start()
        except RuntimeError:  # no memory for its stack
            break
        threads.append(thread)
    if not threads:
        work()
    try:
        for thread in threads:
            while thread.is_alive():
                thread.join(JOIN_SECONDS)
    except BaseException as error:
        errors.append(error)  # the threads end after their current call
        raise
    if errors:
        raise errors[0]
    if len(results) < len(calls):
        raise MemoryError
    return [results[number] for number in range(len(calls))]
