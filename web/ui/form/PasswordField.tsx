// A password: may be shown, pasted and filled in by a password manager. For a new one the rule and
// the length so far stand below, and nothing is asked about its composition.
import { Eye, EyeOff } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { controlLook, Field, type TextFieldProps } from './Field.tsx'

/** The server's rule: shorter ones are guessed, longer ones are not typed. */
export const PASSWORD_LENGTH_MIN = 10
export const PASSWORD_LENGTH_MAX = 128

export function PasswordField(props: TextFieldProps & { readonly isNew?: boolean }) {
  const { label, hint, error, isOptional, onChange, isNew = false, ...native } = props
  const { t } = useTranslation()
  const [isShown, setShown] = useState(false)
  const length = [...native.value].length
  const rule =
    length === 0 || length >= PASSWORD_LENGTH_MIN
      ? t('password.rule', { min: PASSWORD_LENGTH_MIN })
      : t('password.more', { count: PASSWORD_LENGTH_MIN - length })
  return (
    <Field {...{ label, error, isOptional }} hint={hint ?? (isNew ? rule : undefined)}>
      {(wired) => (
        <div className="relative">
          <input
            name="password"
            autoComplete={isNew ? 'new-password' : 'current-password'}
            {...native}
            {...wired}
            type={isShown ? 'text' : 'password'}
            autoCapitalize="none"
            autoCorrect="off"
            spellCheck={false}
            maxLength={1_000}
            onChange={(event) => onChange(event.target.value)}
            className={`${controlLook} pe-12`}
          />
          <button
            type="button"
            aria-pressed={isShown}
            aria-label={t('password.show')}
            title={t(isShown ? 'password.hide' : 'password.show')}
            onClick={() => setShown(!isShown)}
            className="absolute end-1 top-1/2 grid size-9 -translate-y-1/2 place-items-center
              rounded-part text-soft hover:bg-sunk hover:text-ink"
          >
            {isShown ? (
              <EyeOff aria-hidden className="size-4.5" />
            ) : (
              <Eye aria-hidden className="size-4.5" />
            )}
          </button>
        </div>
      )}
    </Field>
  )
}
