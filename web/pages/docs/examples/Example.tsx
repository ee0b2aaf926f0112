// An example with the reader's values, and what copies it. Where it has the key, a button shows it.
import { Eye, EyeOff } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../ui/Button.tsx'
import { CodeBlock } from '../../../ui/CodeBlock.tsx'
import type { Code } from '../../../ui/markdown/blocks.ts'
import { useToast } from '../../../ui/Toasts.tsx'
import { useExamples } from './Examples.tsx'
import { fillExample, hasKey } from './fill.ts'

export function Example({ code }: { readonly code: Code }) {
  const examples = useExamples()
  const { language, text } = code
  if (examples === undefined) return <CodeBlock language={language} shown={text} copied={text} />
  const { shown, own } = examples
  const filled = fillExample(text, shown)
  if (own === undefined || !hasKey(text)) {
    return <CodeBlock language={language} shown={filled} copied={filled} />
  }
  const copied = async () => fillExample(text, { ...shown, key: await own.read() })
  return <CodeBlock language={language} shown={filled} copied={copied} controls={<ShowKey />} />
}

export function ShowKey() {
  const { t } = useTranslation()
  const toast = useToast()
  const own = useExamples()?.own
  if (own === undefined) return null
  const isShown = own.plain !== undefined
  const toggle = () =>
    isShown ? own.hide() : void own.show().catch(() => toast(t('key.gone'), 'bad'))
  return (
    <Button tone="quiet" isSmall icon={isShown ? EyeOff : Eye} onClick={toggle}>
      {t(isShown ? 'start.withoutKey' : 'start.withKey')}
    </Button>
  )
}
