"""Training in the background of a session: to its end, stopped and gone on, waiting for room, alone, and failing."""

from collections import OrderedDict
from dataclasses import replace
from threading import Event

import pytest
import torch

from attention_core.learned.training.courses import COURSES
from attention_core.learned.training.training import Training
from pages.lessons.learned import trainings
from pages.lessons.learned.trainings import MAX_CONCURRENT_TRAININGS, RunningTraining
from pages.runs import network_store
from tests.screen.driver import Screen
from tests.screen.lesson import Lesson

LONG = 60  # seconds: a thread that has not ended by then does not


def plain(course, steps, seed=1, rate=None):
    """The losses of so many steps without a thread."""
    training = Training(course, seed, rate)
    for _ in range(steps):
        training.advance()
    return training


def ended(running):
    """Waits until its thread has ended, while somebody looks."""
    while running.thread.is_alive():
        running.look()
        running.thread.join(0.1)
    return running


LAST = 40  # steps of a short course
STOP = 13  # the step at which it is stopped


@pytest.fixture
def short(monkeypatch):
    """A course that ends early: what a thread does wrong shows in 40 steps as in 400."""
    monkeypatch.setitem(COURSES, "vote", replace(COURSES["vote"], saved=(0, 5, 20, LAST)))


@pytest.fixture
def gate(monkeypatch):
    """Trainings that wait at each step until the gate is opened."""
    opened, own = Event(), Training.advance

    def advance(training):
        assert opened.wait(LONG)
        own(training)

    monkeypatch.setattr(Training, "advance", advance)
    yield opened
    opened.set()


def test_it_trains_to_its_end_and_gives_the_numbers_that_it_gives_without_a_thread(short):
    running = RunningTraining(Training("vote", 3))
    running.start()
    ended(running)
    assert running.state == "done" and running.training.step == LAST
    again = plain("vote", LAST, 3)
    assert running.training.losses == again.losses
    assert [network.step for network in running.saved] == list(COURSES["vote"].saved)
    for one, other in zip(running.saved, again.saved, strict=True):
        assert all(torch.equal(one.numbers[name], other.numbers[name]) for name in one.numbers)
        assert network_store.find_network(one.recipe.name) is one


def test_stopped_and_gone_on_it_ends_as_if_nothing_had_happened(short, monkeypatch):
    own = Training.advance
    running = RunningTraining(Training("vote", 4))

    def advance(training):
        own(training)
        if training.step == STOP:
            running.stop()

    monkeypatch.setattr(Training, "advance", advance)
    running.start()
    ended(running)
    assert (running.state, running.training.step) == ("stopped", STOP)
    running.start()
    ended(running)
    assert running.state == "done" and running.training.losses == plain("vote", LAST, 4).losses


def test_a_start_that_comes_while_it_still_winds_down_counts(short, monkeypatch):
    own, begun, opened = Training.advance, Event(), Event()

    def advance(training):
        begun.set()
        assert opened.wait(LONG)
        own(training)

    monkeypatch.setattr(Training, "advance", advance)
    running = RunningTraining(Training("vote", 6))
    running.start()
    assert begun.wait(LONG)
    running.stop()  # after the step that it is at
    running.start()
    opened.set()
    ended(running)
    assert running.state == "done" and running.training.losses == plain("vote", LAST, 6).losses


def test_a_start_that_comes_when_it_has_stopped_and_its_thread_has_not_ended_counts(short, monkeypatch):
    class Room:
        """Room that is given back late."""

        def __init__(self):
            self.own, self.stopped, self.opened = trainings.BoundedSemaphore(1), Event(), Event()
            self.acquire = self.own.acquire

        def release(self):
            self.stopped.set()
            assert self.opened.wait(LONG)
            self.own.release()

    room, own = Room(), Training.advance
    running = RunningTraining(Training("vote", 7))

    def advance(training):
        own(training)
        if training.step == STOP:
            running.stop()

    monkeypatch.setattr(trainings, "TRAINING_SLOTS", room)
    monkeypatch.setattr(Training, "advance", advance)
    running.start()
    assert room.stopped.wait(LONG)
    assert (running.state, running.training.step) == ("stopped", STOP)
    running.start()
    assert running.state == "waiting"
    room.opened.set()
    ended(running)
    assert running.state == "done" and running.training.losses == plain("vote", LAST, 7).losses


def test_it_stops_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(trainings, "LOOK_SECONDS", 0.0)
    running = RunningTraining(Training("vote", 5))
    running.start()
    running.thread.join(LONG)
    assert running.state == "stopped" and running.training.step < 400


@pytest.mark.slow
def test_two_at_a_time_and_a_third_waits_until_there_is_room(short, gate):
    three = [RunningTraining(Training("vote", seed)) for seed in range(MAX_CONCURRENT_TRAININGS + 1)]
    for running in three:
        running.start()
    while sum(running.state == "training" for running in three) < MAX_CONCURRENT_TRAININGS:
        assert all(running.thread.is_alive() for running in three)
    (waiting,) = [running for running in three if running.state == "waiting"]
    assert waiting.training.step == 0
    gate.set()
    for running in three:
        ended(running)
    assert [running.state for running in three] == ["done"] * 3
    assert waiting.training.losses == plain("vote", LAST, waiting.training.seed).losses


@pytest.mark.slow
def test_who_waits_can_give_up(short, gate):
    two = [RunningTraining(Training("vote", seed)) for seed in range(MAX_CONCURRENT_TRAININGS)]
    for running in two:
        running.start()
    while not all(running.state == "training" for running in two):
        assert all(running.thread.is_alive() for running in two)
    third = RunningTraining(Training("vote", 9))
    third.start()
    third.stop()
    third.thread.join(LONG)
    assert (third.state, third.training.step) == ("stopped", 0)
    gate.set()
    for running in two:
        ended(running)


def test_room_is_given_back_by_one_that_fails():
    for _ in range(MAX_CONCURRENT_TRAININGS + 1):
        running = RunningTraining(Training("copy_two", 1, 1e6))
        running.start()
        ended(running)
        assert running.state == "failed" and running.failure.code == "training_diverged"


def test_what_nobody_expected_is_loud_and_gives_its_room_back(monkeypatch):
    told = []
    monkeypatch.setattr("threading.excepthook", lambda args: told.append(args.exc_value))
    monkeypatch.setattr(Training, "advance", lambda training: 1 / 0)
    for _ in range(MAX_CONCURRENT_TRAININGS + 1):
        running = RunningTraining(Training("vote", 1))
        running.start()
        running.thread.join(LONG)
        assert running.state == "stopped"
    assert [type(each) for each in told] == [ZeroDivisionError] * (MAX_CONCURRENT_TRAININGS + 1)


# ---- on the page -----------------------------------------------------------------------------------------------------
def trained(lesson, course):
    """Waits until a session's own training has ended, and draws the page."""
    ended(lesson.at.session_state["trainings"][course])
    return lesson.ran(lesson.at.run)


@pytest.mark.slow
def test_a_visitor_trains_and_sees_the_own_network():
    lesson = Lesson("explanation", guess="0", trained="vote", lang="en").set("seed", 7)
    before = lesson.fact()
    lesson = trained(lesson.press("explanation_train"), "vote")
    assert lesson.says("Seed 7: all 400 steps")
    running = lesson.at.session_state["trainings"]["vote"]
    assert running.training.losses == plain("vote", 400, 7).losses
    assert lesson.fact() != before
    drawn = lesson.table("The loss against the step of training")
    points = drawn[drawn["kind"] == "point"]
    assert points["y"].iloc[0] == pytest.approx(running.training.losses[0]) and points["y"].iloc[-1] < 0.1
    lesson.press("explanation_drop")
    assert lesson.fact() == before and not lesson.says("Seed 7")


@pytest.mark.slow
def test_a_browser_that_has_not_heard_of_the_newest_network_does_not_choose_the_one_before(monkeypatch):
    """What it says of all controls, with a word that is typed, left it before the answer came."""
    own, stops = Training.advance, {"at": 100}

    def advance(training):
        own(training)
        if training.step == stops["at"]:
            lesson.at.session_state["trainings"]["copy_two"].stop()

    monkeypatch.setattr(Training, "advance", advance)
    lesson = Lesson("induction", lang="en")
    lesson = trained(lesson.press("induction_train"), "copy_two")
    assert lesson.slider("step_of")["value"] == 100
    known = lesson.at._tree.get_widget_states()
    stops["at"] = 200
    lesson = trained(lesson.press("induction_go_on"), "copy_two")
    lesson.ran(lesson.at._run, known)
    assert lesson.slider("step_of")["value"] == 200 and "step_of" not in lesson.link()
    assert lesson.set("step_of", 100).link()["step_of"] == "100"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_and_another_one_another():
    losses = []
    for seed in (7, 7, 8):
        lesson = Lesson("explanation", trained="vote", seed=str(seed), lang="en").press("explanation_train")
        losses.append(trained(lesson, "vote").at.session_state["trainings"]["vote"].training.losses)
    assert losses[0] == losses[1] != losses[2]


@pytest.mark.slow
def test_two_visitors_train_at_once_and_touch_nothing_of_each_other(gate):
    one = Lesson("explanation", trained="vote", seed="11", lang="en").press("explanation_train")
    other = Lesson("explanation", trained="vote", seed="12", lang="en").press("explanation_train")
    third = Lesson("explanation", trained="vote", seed="13", lang="en").press("explanation_train")
    third.ran(third.at.run)
    running = third.at.session_state["trainings"]["vote"]
    while sum(lesson.at.session_state["trainings"]["vote"].state == "training" for lesson in (one, other, third)) < 2:
        assert running.thread.is_alive()
    said = [lesson.ran(lesson.at.run).texts() for lesson in (one, other, third)]
    waiting = [texts for texts in said if any("2 networks are being trained on this machine" in text for text in texts)]
    assert len(waiting) == 1
    gate.set()
    for lesson, seed in ((one, 11), (other, 12), (third, 13)):
        trained(lesson, "vote")
        assert lesson.says(f"Seed {seed}: all 400 steps")
        assert lesson.at.session_state["trainings"]["vote"].training.losses == plain("vote", 400, seed).losses


@pytest.mark.slow
def test_a_visitor_has_one_training_at_a_time(gate):
    lesson = Lesson("explanation", trained="vote", lang="en").press("explanation_train")
    lesson.choose("trained", "A · look up").press("explanation_train")
    first, second = (lesson.at.session_state["trainings"][course] for course in ("vote", "lookup"))
    gate.set()
    first.thread.join(LONG)
    assert first.state == "stopped" and ended(second).state == "done"


def test_a_loss_that_is_no_number_stops_with_a_sentence():
    lesson = Lesson("induction", rate="10000.0", lang="en").press("induction_train")
    lesson = trained(lesson, "copy_two")
    (error,) = lesson.errors()
    assert "all numbers of a training run must stay finite: at step" in error and "another seed may help" in error
    assert lesson.charts()


@pytest.mark.slow
def test_the_own_network_goes_on_into_the_workbench_and_another_server_says_what_is_missing():
    lesson = Lesson("induction", seed="5", lang="en").press("induction_train")
    lesson = trained(lesson, "copy_two").press("door_workbench")
    setup = lesson.at.session_state["setup"]
    assert setup.run.network == "copy_two.5.500"
    screen = Screen(ex="learned_copy", network="copy_two.5.500")
    assert screen.errors() == []
    with network_store.networks_lock:
        network_store.remembered_networks.clear()
    screen = Screen(ex="learned_copy", network="copy_two.5.150")
    assert any("a network that was trained here is kept only for a while" in error for error in screen.errors())


def test_no_more_networks_are_remembered_than_is_said(monkeypatch):
    monkeypatch.setattr(network_store, "MAX_REMEMBERED_NETWORKS", 3)
    monkeypatch.setattr(network_store, "remembered_networks", OrderedDict())  # other tests may have left some
    for network in plain("vote", 50, 21).saved + plain("vote", 50, 22).saved:
        network_store.remember_network(network)
    assert len(network_store.remembered_networks) == 3
    assert list(network_store.remembered_networks) == [f"vote.22.{step}" for step in (0, 25, 50)]
