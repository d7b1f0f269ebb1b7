"""Producer, workers and collector joined by asyncio queues."""
import asyncio


async def produce(queue, count):
    for number in range(count):
        await queue.put(number)
        await asyncio.sleep(0)


async def square(source, sink):
    while True:
        number = await source.get()
        await asyncio.sleep(0.0001 * (number % 3))
        await sink.put((number, number * number))
        source.task_done()


async def main():
    numbers, squares = asyncio.Queue(maxsize=4), asyncio.Queue()
    workers = [asyncio.create_task(square(numbers, squares)) for _ in range(3)]
    await produce(numbers, 20)
    await numbers.join()
    for worker in workers:
        worker.cancel()
    outcomes = await asyncio.gather(*workers, return_exceptions=True)
    print("workers ended by:", {type(o).__name__ for o in outcomes})

    results = sorted(squares.get_nowait() for _ in range(squares.qsize()))
    for number, result in results:
        print(f"{number:2} squared is {result}")

    try:
        await asyncio.wait_for(asyncio.Event().wait(), timeout=0.01)
    except asyncio.TimeoutError:
        print("waiting for nothing timed out")


asyncio.run(main())
