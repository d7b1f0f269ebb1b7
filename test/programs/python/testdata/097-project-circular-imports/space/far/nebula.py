from ..near.moon import NAME


def neighbour():
    return f"far away from {NAME}"
