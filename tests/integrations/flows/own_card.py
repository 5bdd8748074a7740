"""A flow with a card of its own, to be tracked from the command line."""

from metaflow import FlowSpec, card, current, step
from metaflow.cards import Markdown


class OwnCard(FlowSpec):
    @card
    @step
    def start(self):
        current.card.append(Markdown("# written by the step"))
        self.next(self.end)

    @step
    def end(self):
        pass


if __name__ == "__main__":
    OwnCard()
