NAME = "Mond 🌙"
