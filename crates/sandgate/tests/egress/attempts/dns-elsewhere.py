# tries: ask another name server
# control: blocked because packets go nowhere under any policy
# blocked: ENETUNREACH|ECONNREFUSED
def ask():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.settimeout(5)
        end.connect((BAD, 53))
        end.send(question("forbidden.test"))
        return judged(end.recv(4096))


attempt(ask)
