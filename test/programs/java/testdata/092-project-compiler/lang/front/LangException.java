package lang.front;

public class LangException extends RuntimeException {
    public LangException(String message) { super(message); }
}
