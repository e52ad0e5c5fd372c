# tries: start 300 threads
# layer: cgroup
# also: rlimit
# control: escapes
# blocked: EAGAIN
import threading


def start_many():
    done, threads = threading.Event(), []
    try:
        for _ in range(300):
            thread = threading.Thread(target=done.wait)
            thread.start()
            threads.append(thread)
    except RuntimeError as error:
        if "start new thread" not in str(error):
            raise
        raise OSError(errno.EAGAIN, "no more threads") from error
    finally:
        done.set()
        for thread in threads:
            thread.join()
    return f"{len(threads)} threads at once"


attempt(lambda: in_child(start_many))
