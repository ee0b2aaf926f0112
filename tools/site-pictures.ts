// node tools/node.mjs tools/site-pictures.ts: draws the icons and the pictures for previews of
// links with Chromium, into web/public. Run it when the logo, the colours or the sentence changes;
// the pictures are committed. They name no brand: every installation has its own.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'

const directory = join(import.meta.dirname, '../web/public')
const logo = readFileSync(join(directory, 'icon.svg'), 'utf8')
/** Platforms cut corners and cover edges of their own. */
const ICON_SIZES = { 'apple-touch-icon': 180, 'icon-192': 192, 'icon-512': 512 } as const
const FAVICON_SIZE = 32

const previews = {
  ru: {
    title: 'Языковые модели по API с оплатой в рублях',
    text: 'Поменяйте адрес и ключ — программа останется прежней',
    address: 'адрес сервиса',
    key: 'ваш ключ',
  },
  en: {
    title: 'Language model API, paid in roubles',
    text: 'Change the base URL and the key, keep your program',
    address: 'this service',
    key: 'your key',
  },
} as const

const executablePath = process.env.CHROMIUM_PATH || '/usr/bin/chromium'
const args = process.getuid?.() === 0 ? ['--no-sandbox'] : []
const browser = await chromium.launch({ executablePath, args })
const page = await browser.newPage()
for (const [name, size] of Object.entries(ICON_SIZES)) {
  writeFileSync(join(directory, `${name}.png`), await iconOf(page, size))
}
writeFileSync(join(directory, 'favicon.ico'), icoOf(await iconOf(page, FAVICON_SIZE)))
for (const [language, words] of Object.entries(previews)) {
  await page.setViewportSize({ width: 1200, height: 630 })
  await page.setContent(previewOf(words))
  const path = join(directory, `preview-${language}.png`)
  await page.screenshot({ path })
}
await browser.close()

async function iconOf(on: Page, size: number): Promise<Buffer> {
  await on.setViewportSize({ width: size, height: size })
  await on.setContent(
    `<style>*{margin:0}svg{display:block;width:100vw;height:100vh}</style>${logo}`,
  )
  return on.screenshot({ omitBackground: true })
}

/** An ICO file with one PNG: https://en.wikipedia.org/wiki/ICO_(file_format). */
function icoOf(png: Buffer): Buffer {
  const head = Buffer.alloc(22)
  head.writeUInt16LE(1, 2)
  head.writeUInt16LE(1, 4)
  head.writeUInt8(FAVICON_SIZE, 6)
  head.writeUInt8(FAVICON_SIZE, 7)
  head.writeUInt16LE(1, 10)
  head.writeUInt16LE(32, 12)
  head.writeUInt32LE(png.length, 14)
  head.writeUInt32LE(head.length, 18)
  return Buffer.concat([head, png])
}

function previewOf(words: (typeof previews)[keyof typeof previews]): string {
  return `<style>
    * { margin: 0; box-sizing: border-box }
    body { width: 1200px; height: 630px; background: #f6f4ee; color: #1c211f; padding: 64px 72px;
      font-family: "Noto Sans", system-ui, sans-serif; display: flex; flex-direction: column;
      border-top: 16px solid #0f5c4a }
    svg { width: 76px; height: 76px }
    h1 { font: 600 66px/1.12 "PT Serif", Georgia, "Noto Serif", serif; letter-spacing: -0.01em;
      margin-top: 34px; max-width: 1000px }
    p { font-size: 31px; color: #5a625d; margin-top: 20px }
    pre { margin-top: auto; background: #fffefb; border: 2px solid #dfdacd; border-radius: 18px;
      padding: 26px 32px; font: 27px/1.6 ui-monospace, "DejaVu Sans Mono", monospace }
    b { color: #0f5c4a; font-weight: 600 }
    i { color: #7d4f00; font-style: normal }
  </style>${logo}<h1>${words.title}</h1><p>${words.text}</p>
  <pre><b>+</b> ANTHROPIC_BASE_URL=<i>‹${words.address}›</i>
<b>+</b> ANTHROPIC_API_KEY=<i>‹${words.key}›</i></pre>`
}
