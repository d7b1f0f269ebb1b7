// More warnings than the compiler that waits keeps, and more than a run may have.
// with: {"limits": {"stream_mb": 1}}
class AClassWhoseNameIsAsLongAsTheyCome<A, B> { void say(A... all) {} }
class Main {
	static <T> AClassWhoseNameIsAsLongAsTheyCome<T, T> two(T t) { return null; }
	public static void main(String[] a) {
		var b = two(two(two(two(two(0)))));
		var c = two(two(b));
		var d = two(c);
		d = new AClassWhoseNameIsAsLongAsTheyCome<>();
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null); d.say(null);
		System.out.println("ran");
	}
}
