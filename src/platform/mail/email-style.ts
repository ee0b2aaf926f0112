// The looks of an e-mail: the cabinet's paper, ink and green in the light theme at each element,
// and the colours of the dark theme as a style sheet. A colour has a contrast of 4.5:1 or more.

const FONT = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Noto Sans',Arial,sans-serif"
const SERIF = "Georgia,'PT Serif','Noto Serif',serif"

export const style = {
  body: 'margin:0;padding:0;background:#f6f4ee;color:#1c211f',
  /** Read by lists of e-mails only. */
  preheader: 'display:none;max-height:0;overflow:hidden;mso-hide:all',
  page: `width:100%;border-collapse:collapse;background:#f6f4ee;font:16px/1.55 ${FONT}`,
  /** On a phone the sheet does not touch the edges. */
  edge: 'padding:0 8px',
  // 600 px is what the reading panes of mail programs have.
  column: 'width:100%;max-width:600px;border-collapse:separate;border-spacing:0;text-align:left',
  brand: 'padding:28px 24px 14px',
  mark:
    'display:inline-block;width:14px;height:14px;line-height:14px;margin-right:10px;' +
    'border-radius:4px;background:#0f5c4a;vertical-align:baseline',
  name: `font:600 18px/1.2 ${SERIF};color:#1c211f`,
  sheet:
    'padding:28px 24px 20px;background:#fffefb;border:1px solid #dfdacd;border-radius:12px;' +
    // Webmail that drops the doctype does not let tables inherit these.
    'font-size:16px;line-height:1.55;' +
    // An order's ID is nearly as wide as a phone.
    'overflow-wrap:anywhere',
  title: `margin:0 0 16px;font:600 22px/1.25 ${SERIF};color:#1c211f`,
  paragraph: 'margin:0 0 14px;color:#1c211f',
  advice: 'margin:0 0 10px;font-size:14px;color:#5a625d',
  facts: 'width:100%;border-collapse:collapse;margin:4px 0 14px;font-size:14px;line-height:1.55',
  factName: 'padding:7px 12px 7px 0;border-top:1px solid #dfdacd;color:#5a625d;vertical-align:top',
  factValue:
    'padding:7px 0;border-top:1px solid #dfdacd;color:#1c211f;text-align:right;vertical-align:top',
  buttonRow: 'border-collapse:separate;margin:22px 0 10px',
  buttonCell: 'border-radius:8px;background:#0f5c4a;mso-padding-alt:12px 22px',
  button:
    'display:inline-block;padding:12px 22px;border-radius:8px;background:#0f5c4a;color:#ffffff;' +
    'font-weight:600;text-decoration:none',
  link: 'margin:0 0 18px;font-size:13px;color:#5a625d;word-break:break-all',
  anchor: 'color:inherit;text-decoration:underline',
  footer: 'padding:16px 24px 32px;font-size:13px;line-height:1.5;color:#5a625d',
} as const

/** Outlook for Windows shows Times New Roman when it does not know the first font of a list. */
export const outlookStyle = 'td,p,a{font-family:Arial,sans-serif}h1,span{font-family:Georgia,serif}'

export const emailStyle = [
  ':root{color-scheme:light dark}',
  '@media (prefers-color-scheme:dark){',
  '.paper{background:#121614 !important}',
  '.sheet{background:#1a1f1c !important;border-color:#2d3430 !important}',
  '.ink{color:#e9ece7 !important}',
  '.soft{color:#a3ada6 !important}',
  '.line{border-color:#2d3430 !important}',
  '.mark{background:#74d3b4 !important}',
  '.button{background:#74d3b4 !important;color:#06231b !important}',
  '}',
].join('')
