import helpers.Greeter;
import helpers.text.Words;

/** A main class without a package that uses packages, nested and inner classes. */
class Program {
    private final String mood;

    Program(String mood) { this.mood = mood; }

    class Inner {
        String say(String who) { return Greeter.in("de").greet(who) + " (" + mood + ")"; }
    }

    static class Nested {
        static final int ANSWER = 6 * 7;
    }

    public static void main(String[] args) {
        System.out.println(new Program("fröhlich").new Inner().say("世界"));
        System.out.println(Greeter.in("en").greet("crab 🦀") + " " + Nested.ANSWER);
        System.out.println(Words.title("the QUICK brown fös") + " | " + Words.acronym("portable network graphics") + " | " + Words.camel("snake_case_näme"));
        Runnable anonymous = new Runnable() {
            private int calls;
            @Override public void run() { System.out.println("call " + ++calls + " of " + getClass().getName()); }
        };
        anonymous.run();
        anonymous.run();
        try {
            Greeter.in("xx");
        } catch (Greeter.UnknownLanguage e) {
            System.out.println(e.getMessage());
        }
    }
}
