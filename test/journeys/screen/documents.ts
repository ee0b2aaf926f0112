// The legal pages of the stage: long enough to have headings, lists, a table of terms and links, as
// real ones do.

const yaml = `documents:
  - document: offer
    version: "2026-11-01"
    isRequired: true
    title: { ru: Публичная оферта, en: Public offer }
    text: { ru: offer.ru.md, en: offer.en.md }
  - document: personal-data
    version: "3"
    isRequired: true
    title: { ru: Обработка персональных данных, en: Personal data processing }
    text: { ru: offer.ru.md, en: offer.en.md }
  - document: news
    version: "1"
    isRequired: false
    title: { ru: Новости сервиса по почте, en: Service news by e-mail }
    text: { ru: offer.ru.md, en: offer.en.md }
`

const russian = `# Публичная оферта

Этот документ — предложение заключить договор на условиях, изложенных ниже. Договор считается
заключённым с момента оплаты первого пакета кредитов.

## 1. Что мы продаём

1. Кредиты — предоплаченные единицы доступа к сервису.
2. Один входной токен модели стоит один кредит; цены остальных токенов опубликованы в кабинете.

## 2. Оплата и возврат

- Кредиты зачисляются в течение минуты после оплаты.
- Неистраченную часть пакета можно **вернуть деньгами** на странице платежей.
- Чек приходит на адрес, указанный при регистрации.

Вопросы по оплате присылайте на [help@example.org](mailto:help@example.org).
`

const english = `# Public offer

This document is an offer to enter into a contract on the terms set out below. The contract is made
when the first pack of credits is paid for.

## 1. What we sell

1. Credits are prepaid units of access to the service.
2. One input token of a model costs one credit; the prices of other tokens are in the cabinet.

## 2. Payment and refunds

- Credits arrive within a minute of the payment.
- The unspent part of a pack can be **paid back** on the page of payments.
- The receipt comes to the address given at registration.

Write to [help@example.org](mailto:help@example.org) with questions about payments.
`

/** Names and texts, to be written side by side. */
export const documentFiles = {
  'documents.yaml': yaml,
  'offer.ru.md': russian,
  'offer.en.md': english,
}
