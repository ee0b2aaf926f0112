// For a browser that keeps nothing: the new key is shown this once, and comes into force when its
// owner says that it is saved.
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useErrorText } from '../../runtime/errors.ts'
import { Banner } from '../../ui/Banner.tsx'
import { Button } from '../../ui/Button.tsx'
import { CopyButton } from '../../ui/CopyButton.tsx'
import { Dialog } from '../../ui/dialog/Dialog.tsx'
import { CheckField } from '../../ui/form/Field.tsx'
import type { Issuing } from './issuing.ts'

export function UnkeptDialog({ issuing }: { readonly issuing: Issuing }) {
  const { t } = useTranslation()
  const errorText = useErrorText()
  const [isSaved, setSaved] = useState(false)
  const { unkept, isPending, error } = issuing
  return (
    <Dialog
      isOpen={unkept !== undefined}
      onClose={() => undefined}
      isFirm
      title={t('key.notKept')}
      text={t('key.notKeptText')}
    >
      <div className="grid gap-5">
        <p
          className="rounded-part border border-line bg-sunk px-4 py-3 font-mono break-all
            select-all"
        >
          {unkept?.plain}
        </p>
        <div>
          <CopyButton value={unkept?.plain ?? ''} />
        </div>
        <CheckField isChecked={isSaved} onChange={setSaved}>
          {t('key.notKeptTick')}
        </CheckField>
        <div role="alert" className="empty:hidden">
          {error !== undefined && <Banner tone="bad">{errorText(error)}</Banner>}
        </div>
        <Button
          tone="main"
          disabled={!isSaved}
          isPending={isPending}
          onClick={() => void issuing.confirmUnkept()}
        >
          {t('key.notKeptDone')}
        </Button>
      </div>
    </Dialog>
  )
}
