// The account menu: the owner's e-mail, settings, language, theme and sign-out.
import { useLocation, useNavigate } from '@tanstack/react-router'
import { CircleUser, LogOut, Settings, ShieldCheck } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { paths } from '../paths.ts'
import { currentLanguage } from '../runtime/language.ts'
import { type Language, languages } from '../runtime/preferences.ts'
import { useChooseLanguage, useMe, useSignOut } from '../runtime/session.ts'
import { chooseTheme, type Theme, themes, useTheme } from '../runtime/theme.ts'
import { Button } from '../ui/Button.tsx'
import { Menu, MenuChoice, MenuItem, MenuLine } from '../ui/Menu.tsx'
import { useErrorToast } from '../ui/Toasts.tsx'
import { useIsInSettings } from './Navigation.tsx'

export function AccountMenu() {
  const { t } = useTranslation()
  const me = useMe()
  const navigate = useNavigate()
  const signOut = useSignOut()
  const choose = useChooseLanguage()
  const showError = useErrorToast()
  const theme = useTheme()
  const { pathname } = useLocation()
  const isInSettings = useIsInSettings()
  return (
    <Menu
      trigger={
        <Button
          tone="quiet"
          isSmall
          aria-label={t('menu.account')}
          title={t('menu.account')}
          // Below `lg` the navigation has no settings, and this menu is the way to them.
          aria-current={isInSettings ? 'true' : undefined}
          className="max-lg:aria-[current]:bg-tint max-lg:aria-[current]:text-accent-deep"
        >
          <CircleUser aria-hidden className="size-5" />
        </Button>
      }
    >
      <p className="max-w-72 px-3 py-1.5 font-medium wrap-anywhere">{me.email}</p>
      <MenuLine />
      <MenuItem
        icon={Settings}
        isCurrent={isInSettings && pathname !== paths.security}
        onSelect={() => void navigate({ to: paths.settings })}
      >
        {t('nav.settings')}
      </MenuItem>
      <MenuItem
        icon={ShieldCheck}
        isCurrent={pathname === paths.security}
        onSelect={() => void navigate({ to: paths.security })}
      >
        {t('menu.security')}
      </MenuItem>
      <MenuLine />
      <MenuChoice
        label={t('menu.language')}
        value={currentLanguage()}
        onChange={(value) => void choose(value as Language).catch(showError)}
        options={languages.map((value) => ({
          value,
          label: t(`language.${value}`),
          lang: value,
        }))}
      />
      <MenuLine />
      <MenuChoice
        label={t('menu.theme')}
        value={theme}
        onChange={(value) => chooseTheme(value as Theme)}
        options={themes.map((value) => ({ value, label: t(`theme.${value}`) }))}
      />
      <MenuLine />
      <MenuItem icon={LogOut} onSelect={() => void signOut().catch(showError)}>
        {t('menu.signOut')}
      </MenuItem>
    </Menu>
  )
}
