"""Two stand-ins for models: the old one knows the answers, the new one often takes the first option."""

YOUNG = {
    "dog": "puppy",
    "cat": "kitten",
    "horse": "foal",
    "sheep": "lamb",
    "cow": "calf",
    "bear": "cub",
    "goat": "kid",
    "hen": "chick",
    "duck": "duckling",
    "goose": "gosling",
    "frog": "tadpole",
    "deer": "fawn",
    "swan": "cygnet",
    "owl": "owlet",
    "pig": "piglet",
    "fox": "kit",
}


def old(prompt: str) -> str:
    """Return the letter of the right option."""
    young = next(young for animal, young in YOUNG.items() if f" {animal} " in prompt)
    return next(line[0] for line in prompt.splitlines() if line[3:] == young)


def new(prompt: str) -> str:
    """Return the right letter for half of the animals, and A for the others."""
    known = list(YOUNG)[::2]
    return old(prompt) if any(f" {animal} " in prompt for animal in known) else "A"
