import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;
import java.util.stream.*;

/** Chains, joins, races and failures of CompletableFuture. */
public class Futures {
    static <T> Supplier<T> after(int millis, T value) {
        return () -> {
            try {
                Thread.sleep(millis);
            } catch (InterruptedException e) {
                throw new CompletionException(e);
            }
            return value;
        };
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(3);
        var price = CompletableFuture.supplyAsync(after(20, 250), pool);
        var pieces = CompletableFuture.supplyAsync(after(5, 4), pool);
        System.out.println(price.thenCombine(pieces, (a, b) -> a * b).thenApply(total -> "total " + total).get());
        System.out.println(CompletableFuture.supplyAsync(() -> "7x", pool).thenApply(Integer::parseInt).handle((n, error) -> error == null ? "parsed " + n : "failed: " + error.getCause().getClass().getSimpleName()).join());
        System.out.println(CompletableFuture.supplyAsync(() -> List.of(1, 2, 3), pool).thenCompose(list -> CompletableFuture.supplyAsync(() -> list.stream().mapToInt(x -> x).sum(), pool)).join());
        var parts = Stream.of("drei", "eins", "zwei").map(w -> CompletableFuture.supplyAsync(after(w.length(), w.toUpperCase(Locale.ROOT)), pool)).toList();
        System.out.println(CompletableFuture.allOf(parts.toArray(new CompletableFuture[0])).thenApply(v -> parts.stream().map(CompletableFuture::join).toList()).join());
        System.out.println(CompletableFuture.anyOf(new CompletableFuture<>(), CompletableFuture.completedFuture("schnell 🦀")).join());
        System.out.println(CompletableFuture.supplyAsync(after(5000, "late"), pool).completeOnTimeout("default", 20, TimeUnit.MILLISECONDS).join());
        System.out.println(new CompletableFuture<String>().orTimeout(10, TimeUnit.MILLISECONDS).exceptionally(e -> e.getClass().getSimpleName()).join());
        var cancelled = new CompletableFuture<String>();
        cancelled.cancel(true);
        System.out.println(cancelled.isCancelled() + " " + cancelled.isCompletedExceptionally() + " " + cancelled.handle((v, e) -> e instanceof CancellationException).get());
        pool.shutdownNow();
    }
}
