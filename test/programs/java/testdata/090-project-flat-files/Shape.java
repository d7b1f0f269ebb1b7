interface Shape {
    void paint(Canvas canvas);
}
