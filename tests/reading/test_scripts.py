"""Words of any script are found: those written without spaces by pairs of characters, and emoji."""

from collections.abc import Iterator

import pytest

import tiermem
from tiermem.embedding.hashed import HashEmbedder

SAID = {
    "zh": ("我女儿的生日蛋糕是草莓味的。", "生日蛋糕是什么味道？"),
    "ja": ("来週の火曜日に歯医者へ行きます。", "歯医者はいつですか？"),
    "th": ("แมวของฉันชื่อมะลิและกลัวเสียงฟ้าร้อง", "แมวกลัวอะไร"),
    "lo": ("ຂ້ອຍເຮັດວຽກຢູ່ໂຮງໝໍໃນວຽງຈັນ", "ເຮັດວຽກຢູ່ໃສ"),
    "km": ("ខ្ញុំចូលចិត្តផ្លែស្វាយជាងគេ", "ចូលចិត្តផ្លែអ្វី"),
    "my": ("ကျွန်တော် ရန်ကုန်မှာ ဆရာအလုပ်လုပ်တယ်", "ဆရာ ဘယ်မှာအလုပ်လုပ်သလဲ"),
    "el": ("Το ποδήλατό μου είναι στο υπόγειο.", "Πού είναι το ποδήλατό μου;"),
    "ru": ("Моя бабушка печёт пироги с вишней.", "С чем печёт пироги бабушка?"),
    "emoji": ("See you at the 🏊 tomorrow", "🏊"),
}
FILLER = (
    "天气很好。", "今日は寒い。", "วันนี้ร้อนมาก", "ມື້ນີ້ຝົນຕົກ", "ថ្ងៃនេះក្តៅ", "ဒီနေ့ မိုးရွာတယ်", "Καλημέρα σε όλους.",
    "Сегодня дождь.", "It rains.",
)  # fmt: skip


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tiermem.Memory]:
    path = tmp_path_factory.mktemp("scripts")
    with tiermem.open(path, engine="local", embedder=HashEmbedder(), distil="deferred") as memory:
        for language, (said, _) in SAID.items():
            memory.add([{"role": "user", "content": text} for text in (*FILLER, said)], session=language)
        memory.flush()
        yield memory


@pytest.mark.local_only("the words of a search are the same wherever the store is")
@pytest.mark.parametrize("language", SAID)
def test_a_question_in_any_script_finds_the_turn_by_words(memory: tiermem.Memory, language: str) -> None:
    said, question = SAID[language]
    found = memory.recall(question, kind="turns", strategy="fulltext", limit=3).items
    assert found[0].text.endswith(said)


@pytest.mark.local_only("the words of a search are the same wherever the store is")
@pytest.mark.parametrize("phrase", ["草莓味", "火曜日", "กลัวเสียง", "🏊", "пироги с вишней"])
def test_a_phrase_in_quotation_marks_is_found_in_any_script(memory: tiermem.Memory, phrase: str) -> None:
    found = memory.search(f'"{phrase}"', kind="turns")
    assert found
    assert all(phrase in item.text for item in found)
