// The legal pages of the stage: long enough to have headings, lists, a table of terms and links,
// like real ones.

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
2. Один входной токен стоит один кредит; цены остальных токенов опубликованы на странице «Цены».

## 2. Оплата и возврат

- Кредиты зачисляются в течение минуты после оплаты.
- Деньги за неизрасходованные кредиты можно **вернуть** на странице «Платежи».
- Чек приходит на адрес, указанный при регистрации.

Вопросы по оплате присылайте на [help@example.org](mailto:help@example.org).
`

const english = `# Public offer

This document is an offer to enter into a contract on the terms set out below. The contract is made
when the first pack of credits is paid for.

## 1. What we sell

1. Credits are prepaid units of access to the service.
2. One input token costs one credit; the prices of other tokens are on the Pricing page.

## 2. Payment and refunds

- Credits are added within a minute of payment.
- Unspent credits can be **refunded** on the Payments page.
- The receipt is sent to the address given at sign-up.

Write to [help@example.org](mailto:help@example.org) with questions about payments.
`

/** File names and texts. */
export const documentFiles = {
  'documents.yaml': yaml,
  'offer.ru.md': russian,
  'offer.en.md': english,
}
