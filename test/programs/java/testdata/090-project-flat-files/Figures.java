record Box(int x, int y, int width, int height) implements Shape {
    @Override
    public void paint(Canvas canvas) {
        for (int i = 0; i < width; i++) {
            canvas.set(x + i, y, "─");
            canvas.set(x + i, y + height - 1, "─");
        }
        for (int j = 0; j < height; j++) {
            canvas.set(x, y + j, j == 0 ? "┌" : j == height - 1 ? "└" : "│");
            canvas.set(x + width - 1, y + j, j == 0 ? "┐" : j == height - 1 ? "┘" : "│");
        }
    }
}

record Ring(int x, int y, int radius) implements Shape {
    @Override
    public void paint(Canvas canvas) {
        for (int a = 0; a < 60; a++) {
            canvas.set((int) Math.round(x + 2 * radius * Math.cos(a * Math.PI / 30)), (int) Math.round(y + radius * Math.sin(a * Math.PI / 30)), "●");
        }
    }
}

record Label(int x, int y, String text) implements Shape {
    @Override
    public void paint(Canvas canvas) {
        int[] points = text.codePoints().toArray();
        for (int i = 0; i < points.length; i++) canvas.set(x + i, y, Character.toString(points[i]));
    }
}
