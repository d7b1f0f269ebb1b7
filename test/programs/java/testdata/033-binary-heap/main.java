import java.util.*;
import java.util.function.*;

/** A generic heap with changeable priorities, heap sort and a running median. */
public class BinaryHeap<T> {
    private final List<T> items = new ArrayList<>();
    private final Comparator<? super T> order;

    BinaryHeap(Comparator<? super T> order) { this.order = order; }

    void push(T item) {
        items.add(item);
        for (int i = items.size() - 1; i > 0 && less(i, (i - 1) / 2); i = (i - 1) / 2) Collections.swap(items, i, (i - 1) / 2);
    }

    T pop() {
        if (items.isEmpty()) throw new NoSuchElementException("heap is empty");
        T top = items.get(0), last = items.remove(items.size() - 1);
        if (!items.isEmpty()) {
            items.set(0, last);
            for (int i = 0, child; (child = 2 * i + 1) < items.size(); i = child) {
                if (child + 1 < items.size() && less(child + 1, child)) child++;
                if (!less(child, i)) break;
                Collections.swap(items, i, child);
            }
        }
        return top;
    }

    private boolean less(int i, int j) { return order.compare(items.get(i), items.get(j)) < 0; }
    T peek() { return items.get(0); }
    int size() { return items.size(); }

    record Task(String name, int priority) {}

    public static void main(String[] args) {
        var tasks = new BinaryHeap<>(Comparator.comparingInt(Task::priority).thenComparing(Task::name));
        for (String t : "write:5 think:1 read:3 parler:3 睡觉:9".split(" ").clone()) tasks.push(new Task(t.split(":")[0], Integer.parseInt(t.split(":")[1])));
        while (tasks.size() > 0) System.out.println(tasks.pop());
        try {
            tasks.pop();
        } catch (NoSuchElementException e) {
            System.out.println(e.getMessage());
        }
        var words = new BinaryHeap<String>(Comparator.reverseOrder());
        List.of("pear", "fig", "kiwi", "date").forEach(words::push);
        Supplier<String> next = words::pop;
        System.out.println(next.get() + " " + next.get() + " " + next.get());
        var low = new BinaryHeap<Integer>(Comparator.reverseOrder());
        var high = new BinaryHeap<Integer>(Comparator.naturalOrder());
        for (int n : new int[] {5, 15, 1, 3, 8, 7, 9}) {
            low.push(n);
            high.push(low.pop());
            if (high.size() > low.size()) low.push(high.pop());
            System.out.print((low.size() > high.size() ? low.peek() : (low.peek() + high.peek()) / 2.0) + " ");
        }
        System.out.println();
    }
}
