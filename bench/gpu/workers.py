"""Runs one step over many functions in processes of their own: an error of the device, which no call of the same
process survives, costs one function, and a step ends when its time is over."""

import json
import queue
import subprocess
import threading
import time

MARK = "@result "  # before a line of JSON; whatever else a worker prints is not ours


def serve(answer, lines, out):
    """The worker's side: a function's name a line in, a line of JSON out."""
    for line in lines:
        out.write(f"{MARK}{json.dumps(answer(line.strip()))}\n")
        out.flush()


class Worker:
    """One process; a new one takes over where the last one died."""

    def __init__(self, command, log):
        self.command, self.log, self.process, self.killed = command, log, None, False

    def kill(self):
        """Ends the process in the middle of its work, for want of time."""
        self.killed = True
        if self.process is not None:
            self.process.kill()

    def ask(self, name):
        """The answer; {"error": text} if the process ended by itself instead, None if it was killed."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True
            )
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.startswith(MARK):
                    return json.loads(line[len(MARK) :])
        except BrokenPipeError:
            pass
        code = self.close()
        return None if self.killed else {"error": f"the process ended with code {code}: {last_line(self.log.name)}"}

    def close(self):
        """The exit code; 0 if there was no process."""
        if self.process is None:
            return 0
        self.process.communicate()
        code, self.process = self.process.returncode, None
        return code


def last_line(path):
    with open(path) as log:
        return (log.read().strip().splitlines() or ["it said nothing"])[-1]


def run(names, commands, logs, seconds, tell):
    """{name: answer} of all that were done within the time, and the exit code of each worker. One worker per command;
    `tell` is called with each name and answer as it comes."""
    waiting, answers, codes, lock = queue.Queue(), {}, [], threading.Lock()
    end = time.monotonic() + seconds
    for name in names:
        waiting.put(name)

    def work(worker):
        while time.monotonic() < end:
            try:
                name = waiting.get_nowait()
            except queue.Empty:
                break
            answer = worker.ask(name)
            if answer is not None:
                with lock:
                    answers[name] = answer
                    tell(name, answer)
        codes.append(worker.close())

    crew = [Worker(command, open(path, "w")) for command, path in zip(commands, logs)]
    threads = [threading.Thread(target=work, args=(worker,)) for worker in crew]
    for thread in threads:
        thread.start()
    for thread, worker in zip(threads, crew):
        thread.join(max(0.0, end - time.monotonic()))
        if thread.is_alive():
            worker.kill()
    for thread, worker in zip(threads, crew):
        thread.join()
        worker.log.close()
    return answers, codes
