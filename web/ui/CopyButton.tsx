// Copies the real value, which need not be on the page, and says that it did. The value may be a
// function, so that a secret is read only when somebody asks for it.
import { Check, Copy } from 'lucide-react'
import { useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton, type Tone } from './Button.tsx'
import { useToast } from './Toasts.tsx'

const SAID_MS = 2_000

export function CopyButton(props: {
  readonly value: string | (() => string | Promise<string>)
  readonly label?: string
  readonly tone?: Tone
  readonly isSmall?: boolean
  /** A picture only, for where many stand in a column; the label is what readers hear. */
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
      // No permission, or no secure connection: the words say what to do instead.
      toast(t('copy.failed'), 'bad')
      return
    }
    props.onCopied?.()
    setCopied(true)
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setCopied(false), SAID_MS)
  }

  const said = isCopied ? t('copy.done') : (label ?? t('copy.copy'))
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
      <span aria-live="polite">{said}</span>
    </Button>
  )
}

/**
 * Safari lets write only what begins within the click; a value that is still being read by then is
 * handed over as a promise.
 */
async function writeLater(value: () => string | Promise<string>): Promise<void> {
  const read = async () => new Blob([await value()], { type: 'text/plain' })
  await navigator.clipboard.write([new ClipboardItem({ 'text/plain': read() })])
}
