"""A help desk that repeats each message before it answers."""

TOPICS = {
    "order": "You find your orders under My account.",
    "refund": "A refund takes five working days.",
    "parcel": "Parcels arrive within three days.",
    "pay": "We take cards and bank transfers.",
}


def answer(prompt: str) -> str:
    """Return the reply of the help desk to a message."""
    help_text = next(
        (text for word, text in TOPICS.items() if word in prompt.lower()), "A colleague will write to you."
    )
    return f'You wrote: "{prompt}" {help_text}'
