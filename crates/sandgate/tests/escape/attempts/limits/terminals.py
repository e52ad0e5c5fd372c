# tries: take as many terminals as the host keeps for others
# layer: mount
# control: escapes
# blocked: ENOSPC
def take():
    taken = []
    try:
        for _ in range(200):
            taken.append(os.open("/dev/ptmx", os.O_RDWR | os.O_NOCTTY))
        return "200 terminals"
    finally:
        for terminal in taken:
            os.close(terminal)


attempt(take)
