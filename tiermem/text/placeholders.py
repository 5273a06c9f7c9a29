"""What exports of chats have in the place of a picture, a sound or a file that they leave out."""

from __future__ import annotations

_MARKS = "\u200e\u200f\u202a\u202c\ufeff"
_PLACEHOLDERS = {
    "en": "image|video|audio|sticker|gif|document|video note|contact card|photo",
    "en-omitted": "{} omitted",
    "de": "bild|video|audio|sticker|gif|dokument|videonachricht|kontaktkarte",
    "de-omitted": "{} weggelassen|{} ausgelassen",
    "es": "imagen|video|audio|sticker|gif|documento|tarjeta de contacto",
    "es-omitted": "{} omitida|{} omitido",
    "fr": "image|vidéo|audio|sticker|gif|document|fiche contact",
    "fr-omitted": "{} absente|{} absent|{} omis|{} omise|{} retiré",
    "pt": "imagem|foto|vídeo|áudio|figurinha|gif|documento|cartão do contato",
    "pt-omitted": "{} ocultada|{} ocultado|{} omitida|{} omitido",
    "it": "immagine|video|audio|sticker|gif|documento|scheda contatto",
    "it-omitted": "{} omessa|{} omesso|{} non incluso|{} non inclusa|{} esclusa|{} escluso",
    "hi": "चित्र|इमेज|वीडियो|ऑडियो|स्टिकर|gif|दस्तावेज़",
    "hi-omitted": "{} छोड़ा गया|{} छोड़ी गई|{} हटाया गया",
    "zh": "图像|图片|视频|音频|贴图|gif|文档",
    "zh-omitted": "{}已忽略|忽略{}",
    "ja": "画像|動画|音声|スタンプ|gif|ドキュメント",
    "ja-omitted": "{}は省略されました|{}が省略されました",
    "ko": "사진|동영상|오디오|스티커|gif|문서",
    "ko-omitted": "{} 생략됨|{}이 생략됨|{}가 생략됨",
    "ar": "الصورة|الفيديو|الصوت|الملصق|المستند",
    "ar-omitted": "تم استبعاد {}|{} محذوفة",
    "fi": "kuva|video|ääni|tarra|gif|asiakirja",
    "fi-omitted": "{} jätettiin pois|{} jätetty pois",
}
"""By language the kinds of media, and how an export for iOS says that one is left out."""
_OF_ANDROID = (
    "<media omitted>",
    "<medien ausgeschlossen>",
    "<multimedia omitido>",
    "<médias omis>",
    "<mídia oculta>",
    "<mídia omitida>",
    "<arquivo de mídia oculto>",
    "<media omessi>",
    "<मीडिया छोड़ा गया>",
    "<मीडिया के बिना>",
    "<媒体文件已省略>",
    "<省略多媒體檔案>",
    "<メディアは含まれていません>",
    "<미디어 파일 제외됨>",
    "<تم استبعاد الوسائط>",
    "<media jätettiin pois>",
)
"""How an export for Android says it of any kind."""


def _every_placeholder() -> frozenset[str]:
    languages = [name for name in _PLACEHOLDERS if not name.endswith("-omitted")]
    return frozenset(_OF_ANDROID) | {
        form.format(kind)
        for language in languages
        for form in _PLACEHOLDERS[f"{language}-omitted"].split("|")
        for kind in _PLACEHOLDERS[language].split("|")
    }


_EVERY_PLACEHOLDER = _every_placeholder()
_LONGEST = max(map(len, _EVERY_PLACEHOLDER))


def is_media_placeholder(text: str) -> bool:
    """Whether a text is no more than the placeholder of a picture, a sound or a file that was left out."""
    if len(text) > 2 * _LONGEST:
        return False
    return text.strip(_MARKS + " \n").lower() in _EVERY_PLACEHOLDER
