// Shows recovery codes once. The owner copies, saves or prints them and must tick a box to go on.
import { Download, Printer } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { saveFile } from '../../runtime/save-file.ts'
import { useMe } from '../../runtime/session.ts'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { CheckField } from '../../ui/form/Field.tsx'

export function RecoveryCodes(props: {
  readonly codes: readonly string[]
  readonly onKept: () => void
}) {
  const { t } = useTranslation()
  const { codes, onKept } = props
  const { email } = useMe()
  const [isKept, setKept] = useState(false)
  const text = `${t('factor.codesFile', { email })}\n\n${codes.join('\n')}\n`
  return (
    <div className="grid gap-5">
      <div data-print className="rounded-box bg-sunk p-4">
        <p className="mb-3 hidden font-semibold print:block">{t('factor.codesFile', { email })}</p>
        <ul className="grid grid-cols-2 gap-x-6 gap-y-1.5 font-mono">
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
      </div>
      <div className="flex flex-wrap gap-2 print:hidden">
        <CopyButton value={codes.join('\n')} />
        <Button isSmall icon={Download} onClick={() => saveFile('recovery-codes.txt', text)}>
          {t('action.download')}
        </Button>
        <Button isSmall icon={Printer} onClick={() => window.print()}>
          {t('action.print')}
        </Button>
      </div>
      <div className="grid gap-5 print:hidden">
        <CheckField isChecked={isKept} onChange={setKept}>
          {t('factor.codesKept')}
        </CheckField>
        <Button tone="main" isWide disabled={!isKept} onClick={onKept}>
          {t('action.done')}
        </Button>
      </div>
    </div>
  )
}
