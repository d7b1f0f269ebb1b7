# with: {"files": {"beside.py": "import gc\nprint(gc.get_freeze_count())\nclass D:\n    def __del__(self): print('gone')\nd = D()\nd.d = d"}}
try:
    import beside
except ImportError as why:
    print(why)
print(len(dir()))
