# tries: ask another name server than the sandbox's own
# control: blocked because packets go nowhere under any policy
# blocked: ENETUNREACH
def ask():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.settimeout(PATIENCE)
        end.connect(("{{OWN}}", int("{{OWN_PORT}}")))
        end.send(question("forbidden.test"))
        return judged(end.recv(4096))


attempt(ask)
