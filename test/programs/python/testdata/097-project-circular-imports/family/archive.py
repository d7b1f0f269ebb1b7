def record(parent):
    return ", ".join([parent.name] + [child.name for child in parent.children])
