"""Trains a small detector of bright rectangles once with each form of the loss, side by side: face_detector.py [options]

All start from the same weights and see the same batches; in each step they take turns in a random order, so that what
else the machine does meets all alike. Leaves with 1 where losses are not the same. --write FILE writes the tables.
"""
import argparse
import dataclasses
import platform
import random
import statistics
import sys
import time

import torch
from losses import FORMS, OURS, targets_of

SIZE, BOXES, BATCH = 32, 16, 64
EQUAL_STEPS, EQUAL, CLOSE = 20, 1e-8, 0.05  # f64: absolute, for these steps; f32: relative, of the last step


def picture(dice):
    """Grey noise with brighter rectangles, and their boxes from left to right, in units of the picture."""
    image = 0.5 * torch.rand(1, SIZE, SIZE, generator=dice)
    count = min(int(torch.randn((), generator=dice).mul(3).abs().floor()), BOXES)
    corner = torch.randint(0, SIZE - 12, (count, 2), generator=dice)
    end = corner + torch.randint(4, 13, (count, 2), generator=dice)
    for (left, top), (right, bottom) in zip(corner.tolist(), end.tolist()):
        image[0, top:bottom, left:right] += 0.5
    boxes = torch.cat([corner, end], 1).double() / SIZE
    return image, boxes[boxes[:, 0].argsort(stable=True)]


def batches(steps, dtype):
    dice = torch.Generator().manual_seed(1)
    for _ in range(steps):
        images, boxes = zip(*(picture(dice) for _ in range(BATCH)))
        yield torch.stack(images).to(dtype), targets_of([b.to(dtype) for b in boxes], BOXES)


class Detector(torch.nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for inputs, outputs in ((1, 4), (4, 16), (16, 64)):
            layers += [torch.nn.Conv2d(inputs, outputs, 3, padding=1), torch.nn.MaxPool2d(2), torch.nn.ReLU()]
        self.layers = torch.nn.Sequential(*layers, torch.nn.Flatten(), torch.nn.Linear(1024, 256), torch.nn.ReLU(),
                                          torch.nn.Linear(256, 4 * BOXES))

    def forward(self, images):
        corner, size = self.layers(images).view(-1, BOXES, 2, 2).unbind(2)
        return torch.cat([corner, corner + torch.nn.functional.softplus(size)], -1)


@dataclasses.dataclass
class Training:
    """One detector that learns by one form of the loss, and what was seen of it: a number for each step."""
    loss: callable
    model: torch.nn.Module
    losses: list = dataclasses.field(default_factory=list)
    loss_ms: list = dataclasses.field(default_factory=list)  # forward and backward of the loss alone
    step_ms: list = dataclasses.field(default_factory=list)

    def __post_init__(self):
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)

    def step(self, images, targets):
        begin = time.perf_counter()
        self.optimizer.zero_grad()
        predicted = self.model(images)
        leaf = predicted.detach().requires_grad_()
        before = time.perf_counter()
        loss = self.loss(leaf, targets)
        loss.backward()
        after = time.perf_counter()
        predicted.backward(leaf.grad)
        self.optimizer.step()
        self.step_ms.append(1e3 * (time.perf_counter() - begin))
        self.loss_ms.append(1e3 * (after - before))
        self.losses.append(loss.item())


def train(steps, dtype):
    torch.manual_seed(0)
    start = Detector().to(dtype).state_dict()
    trainings = {}
    for name, loss in FORMS.items():
        model = Detector().to(dtype)
        model.load_state_dict(start)
        trainings[name] = Training(loss, model)
    turns = random.Random(1)
    for images, targets in batches(steps, dtype):
        for training in turns.sample(list(trainings.values()), len(trainings)):
            training.step(images, targets)
    return trainings


def interval(values):
    """The median, and the ends of its 95 % interval by ranks."""
    ordered, count = sorted(values), len(values)
    reach = 0.98 * count ** 0.5
    low, high = max(0, int(count / 2 - reach)), min(count - 1, int(count / 2 + reach))
    return statistics.median(ordered), ordered[low], ordered[high]


def ratios(trainings, what):
    """For each form: how many times faster than the fastest of PyTorch's forms, step by step, its first steps left out."""
    times = {name: getattr(training, what)[5:] for name, training in trainings.items()}
    best = min((name for name in times if name not in OURS), key=lambda name: statistics.median(times[name]))
    return {name: interval([b / own for b, own in zip(times[best], times[name])]) for name in times}


def table(trainings):
    lines = ["| form of the loss | first loss | last loss | loss, ms | times as fast | step, ms | times as fast |",
             "|---|---|---|---|---|---|---|"]
    loss_ratios, step_ratios = ratios(trainings, "loss_ms"), ratios(trainings, "step_ms")
    for name, training in trainings.items():
        row = [name, f"{training.losses[0]:.6f}", f"{training.losses[-1]:.6f}"]
        for times, ratio in ((training.loss_ms, loss_ratios), (training.step_ms, step_ratios)):
            middle, low, high = ratio[name]
            row += [f"{statistics.median(times[5:]):.2f}", f"{middle:.2f} ({low:.2f} to {high:.2f})"]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def differences(exact, trainings):
    """The greatest difference to the loop: of f64 in any of the first steps, and of f32 in the last step, relative."""
    loop, last = exact["per-sample loop"].losses, trainings["per-sample loop"].losses[-1]
    in_f64 = max(abs(a - b) for other in exact.values() for a, b in zip(other.losses, loop))
    return in_f64, max(abs(other.losses[-1] / last - 1) for other in trainings.values())


def processor():
    with open("/proc/cpuinfo") as lines:
        return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def report(trainings, steps, in_f64, in_f32):
    return f"""# The detector, trained with five forms of its loss
Written by `python examples/face_detector/face_detector.py --write`: {steps} steps of {BATCH} pictures, f32, Adam 1e-3;
torch {torch.__version__} on {torch.get_num_threads()} threads of {processor()}.

{table(trainings)}

Times are medians. *loss* is forward and backward of the loss alone, *step* all of a training step. *Times as fast* is
beside the fastest of PyTorch's three forms, step by step, with the 95 % interval of the median.

In f64 the losses of the first {EQUAL_STEPS} steps differ by {in_f64:.1e} at most. In f32 rounding leads the detectors apart: their last
losses differ by {100 * in_f32:.2f} % at most.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--write", metavar="FILE", nargs="?", const=__file__.replace("face_detector.py", "results.md"))
    options = parser.parse_args()
    exact = train(EQUAL_STEPS, torch.float64)
    trainings = train(options.steps, torch.float32)
    in_f64, in_f32 = differences(exact, trainings)
    text = report(trainings, options.steps, in_f64, in_f32)
    print(text)
    if options.write:
        with open(options.write, "w") as file:
            file.write(text)
    sys.exit(0 if in_f64 <= EQUAL and in_f32 <= CLOSE else "the losses are not the same")


if __name__ == "__main__":
    main()
