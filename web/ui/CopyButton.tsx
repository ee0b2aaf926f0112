// Copies a value, which need not be on the page, and confirms it. The value may be a function, so
// that a secret is read only at the click.
import { Check, Copy } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton, type Tone } from './Button.tsx'
import { useToast } from './Toasts.tsx'

const CONFIRMATION_MS = 2_000

export function CopyButton(props: {
  readonly value: string | (() => string | Promise<string>)
  readonly label?: string
  readonly tone?: Tone
  readonly isSmall?: boolean
  /** Shows only the icon, for columns of many; screen readers announce the label. */
  readonly isBare?: boolean
  readonly onCopied?: () => void
}) {
  const { value, label, tone = 'plain', isSmall = true, isBare = false } = props
  const { t } = useTranslation()
  const toast = useToast()
  const [isCopied, setCopied] = useState(false)
  const timer = useRef(0)

  async function copy(): Promise<void> {
    try {
      if (typeof value === 'string') await navigator.clipboard.writeText(value)
      else await writeLater(value)
    } catch {
      // No permission or no HTTPS: the message tells the user how to copy by hand.
      toast(t('copy.failed'), 'bad')
      return
    }
    props.onCopied?.()
    setCopied(true)
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setCopied(false), CONFIRMATION_MS)
  }

  const text = isCopied ? t('copy.done') : (label ?? t('copy.copy'))
  const icon = isCopied ? Check : Copy
  if (isBare) {
    return (
      <>
        <IconButton label={label ?? t('copy.copy')} icon={icon} onClick={() => void copy()} />
        <span role="status" className="sr-only">
          {isCopied && t('copy.done')}
        </span>
      </>
    )
  }
  return (
    <Button tone={tone} isSmall={isSmall} icon={icon} onClick={() => void copy()}>
      <span aria-live="polite">{text}</span>
    </Button>
  )
}

/**
 * Safari allows only a write that begins within the click, so a value that is read asynchronously
 * is passed as a promise.
 */
async function writeLater(value: () => string | Promise<string>): Promise<void> {
  const read = async () => new Blob([await value()], { type: 'text/plain' })
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': read() })])
}
