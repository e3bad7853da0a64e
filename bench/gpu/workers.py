"""Runs one step over many functions in processes of their own: an error of the device, which no call of the same
process survives, costs one function, and a step ends when its time is over."""

import json
import queue
import signal
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

    def __init__(self, command, log, patience):
        self.command, self.log, self.patience = command, log, patience
        self.process, self.killed = None, False

    def kill(self):
        """Ends the process in the middle of its work, for want of time."""
        self.killed = True
        if self.process is not None:
            self.process.kill()

    def ask(self, name):
        """The answer; {"error": text} if the process ended or was too slow; None if it was killed for want of time."""
        if self.process is None:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True
            )
        patient = threading.Timer(self.patience, self.process.kill)
        patient.start()
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line.startswith(MARK):
                    return json.loads(line[len(MARK) :])
        except BrokenPipeError:
            pass
        finally:
            patient.cancel()
        code = self.close()
        if self.killed:
            return None
        said = f"after {self.patience:.0f} s" if code == -signal.SIGKILL else last_line(self.log.name)
        return {"error": f"the process ended with code {code}: {said}"}

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


def run(names, commands, logs, seconds, patience, tell):
    """{name: answer} of all that were done within the time, and the exit code of each worker. One worker per command,
    which gives a function up after `patience` seconds; `tell` is called with each name and answer as it comes."""
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

    crew = [Worker(command, open(path, "w"), patience) for command, path in zip(commands, logs)]
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
