"""What exports of chats have in place of a picture, a sound, a file, a call or a message that was deleted.

Notices of the app too.
"""

from __future__ import annotations

import re

from pagestore import Turn

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
    "<media weggelaten>",
    "<medya dahil edilmedi>",
    "<pominięto multimedia>",
    "<без медиафайлов>",
)
"""How an export for Android says it of any kind."""


_NO_WORDS = (
    "null",
    "missed voice call",
    "missed video call",
    "this message was deleted",
    "you deleted this message",
    "diese nachricht wurde gelöscht",
    "du hast diese nachricht gelöscht",
    "se eliminó este mensaje",
    "este mensaje fue eliminado",
    "eliminaste este mensaje",
    "ce message a été supprimé",
    "vous avez supprimé ce message",
    "mensagem apagada",
    "essa mensagem foi apagada",
    "esta mensagem foi apagada",
    "você apagou esta mensagem",
    "questo messaggio è stato eliminato",
    "hai eliminato questo messaggio",
    "dit bericht is verwijderd",
    "bu mesaj silindi",
    "ta wiadomość została usunięta",
    "данное сообщение удалено",
    "此消息已删除",
    "このメッセージは削除されました",
    "삭제된 메시지입니다",
    "यह मैसेज हटा दिया गया",
    "आपने यह मैसेज हटा दिया",
)
"""What exports have for a message that was deleted, and for a call."""
_ATTACHED = re.compile(
    r"<attached: [^>\n]{1,200}>|[\w.-]{1,120}\.\w{2,5} \((?:file attached|datei angehängt|archivo adjunto|"
    r"fichier joint|arquivo anexado|file allegato|bestand bijgevoegd)\)",
    re.IGNORECASE,
)
"""The name of a file that is exported with the chat."""


WHATSAPP = "WhatsApp"
"""The speaker of notices of the app, in chats that are imported from WhatsApp."""
_ENCRYPTED = (
    "messages and calls are end-to-end encrypted.",
    "messages to this group are now secured with end-to-end encryption.",
    "messages to this chat and calls are now secured with end-to-end encryption.",
    "messages you send to this group are now secured with end-to-end encryption.",
    "messages you send to this chat and calls are now secured with end-to-end encryption.",
    "nachrichten und anrufe sind ende-zu-ende-verschlüsselt.",
    "los mensajes y las llamadas están cifrados de extremo a extremo.",
    "les messages et les appels sont chiffrés de bout en bout.",
    "as mensagens e as ligações são protegidas com a criptografia de ponta a ponta",
    "as mensagens e as chamadas são protegidas com a criptografia de ponta a ponta",
    "i messaggi e le chiamate sono crittografati end-to-end.",
)
"""How the notice begins that the words are encrypted."""
_SECURITY_CODE = re.compile(
    r"your security code with .{1,80} changed\.(?: tap to learn more\.?)?", re.IGNORECASE
)
_LONGEST_NOTICE = 400
_ACTION = re.compile(r"\[[a-z_]{3,40}\]")
"""What a chat of Telegram has for a notice: `[create_group]`, `[invite_members]`."""


def _every_placeholder() -> frozenset[str]:
    languages = [name for name in _PLACEHOLDERS if not name.endswith("-omitted")]
    return frozenset(_OF_ANDROID) | {
        form.format(kind)
        for language in languages
        for form in _PLACEHOLDERS[f"{language}-omitted"].split("|")
        for kind in _PLACEHOLDERS[language].split("|")
    }


_EVERY_PLACEHOLDER = _every_placeholder()
_LONGEST = 220


def is_media_placeholder(text: str) -> bool:
    """Whether a text is no more than the placeholder of a picture, a sound or a file that was left out."""
    return len(text) <= _LONGEST and text.strip(_MARKS + " \n").lower() in _EVERY_PLACEHOLDER


def is_placeholder(text: str) -> bool:
    """Whether a text is no more than what an export has in place of a message's own words."""
    if _is_fixed_notice(text):
        return True
    if len(text) > _LONGEST:
        return False
    plain = text.strip(_MARKS + " \n").rstrip(".")
    return is_media_placeholder(text) or plain.lower() in _NO_WORDS or _ATTACHED.fullmatch(plain) is not None


def is_without_words(turn: Turn) -> bool:
    """Whether a turn has no words of its own: a placeholder, or a notice of the app (Ann added Bob)."""
    if turn.role == "system" and (turn.speaker == WHATSAPP or _ACTION.fullmatch(turn.text)):
        return True
    return is_placeholder(turn.text)


def _is_fixed_notice(text: str) -> bool:
    """Whether a text is a notice with the same words in every chat; its speaker does not matter."""
    if len(text) > _LONGEST_NOTICE:
        return False
    plain = text.strip(_MARKS + " \n")
    return plain.lower().startswith(_ENCRYPTED) or _SECURITY_CODE.fullmatch(plain) is not None
