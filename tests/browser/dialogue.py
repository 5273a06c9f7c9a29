"""What two people and somebody who means no good said: made up, with what is hard to show."""

import tiermem

SHOPPING = (
    ("Ann", "2024-03-04T09:10", "My dog Biscuit 🐕 is allergic to chicken. 🍗 He may eat duck."),
    ("Bo", "2024-03-04T09:12", "Then I'll buy the duck treats for him on Friday."),
    ("Ann", "2024-03-04T09:13", "Thank you! He weighs 12 kg, so two a day are enough."),
)
TRIP = (
    ("Bo", "2024-05-11T18:00", "We booked the cabin in Bergen for 14 June."),
    ("Ann", "2024-05-11T18:03", "Lovely. My sister Clara comes with us, she takes the train from Oslo."),
    ("Bo", "2024-05-11T18:04", "The cabin costs 240 euros a night."),
)
HOSTILE = "<img src=x onerror=\"document.title='owned'\"> <b>bold</b> & <script>alert(1)</script>"


def tell(memory: tiermem.Memory) -> None:
    """Store it, in three sessions, summarised; then a correction, so that there is a history."""
    for session, said in (("shopping", SHOPPING), ("trip", TRIP)):
        for speaker, at, text in said:
            memory.add(text, speaker=speaker, said_at=at, session=session)
    memory.add(HOSTILE, speaker="<i>Mallory</i>", said_at="2024-06-01T10:00", session="<u>shop</u>")
    memory.flush()


def correct(memory: tiermem.Memory) -> str:
    """Correct what the cabin costs; the id of the unit that holds now."""
    (old,) = (unit for unit in memory.units() if "240 euros" in unit.text)
    return memory.correct(
        old.id, "The cabin costs 260 euros a night.", speaker="Bo", said_at="2024-05-12T08:00"
    ).unit.id
