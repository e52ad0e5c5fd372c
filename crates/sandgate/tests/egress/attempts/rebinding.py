# tries: have an allowed name lead to an allowed host first and then to the host's loopback
# control: escapes
# blocked: denied-address
import time


def rebind():
    judged_word = None
    for _ in range(40):
        try:
            return judged(by_proxy(f"http://rebind.lies.test:{HOST_PORT}/secret"))
        except Blocked as reason:
            judged_word = str(reason)
            if judged_word == "denied-address":
                raise
        time.sleep(0.5)
    raise Blocked(judged_word)


attempt(rebind)
