// Passwords of ten or more characters that attackers try first, and patterns that have too many
// variants for a list. The list is ours and not a service's: a registration must not depend on
// somebody else's server, nor tell it anything about a password.

/** The most frequent leaked passwords, from public statistics; in lower case. */
const LISTED = new Set(
  `
  1234567890 12345678910 123456789a 123456789q 123456789z 1234567890a 1234567890q 1234567891
  12345678900 123456789123 1234567899 0123456789 0987654321 9876543210 1029384756 1020304050
  1122334455 11223344556677 1212121212 1231231234 123123123a 1234554321 123456123456 12345123451
  123321123321 147258369a 1472583690 147852369a 159753456852 1597534682 1a2b3c4d5e 1qaz2wsx3edc
  1qazxsw23edc 1q2w3e4r5t 1q2w3e4r5t6y 1q2w3e4r5t6y7u q1w2e3r4t5 q1w2e3r4t5y6 a1b2c3d4e5 a123456789
  q123456789 z123456789 qwertyuiop qwertyuiop1 qwertyuiop123 qwertyuiop[] qwerty1234 qwerty12345
  qwerty123456 qwerty1234567 qwertyqwerty qwertyasdf qwertyasdfgh qwerty12qw asdfghjkl1 asdfghjkl;
  asdfasdfasdf asdfghjkl123 zxcvbnm123 zxcvbnm,./ zaq12wsxcde qazwsxedcrfv qazwsx123456 qweasdzxc1
  qweasdzxc123 qwe123qwe123 qweqweqwe1 asdasdasd1 zxczxczxc1 password10 password11 password12
  password123 password1234 password12345 password123! password1! password2024 password2025
  password2026 passwordpassword passw0rd123 p@ssw0rd123 p@ssword123 pa55word123 mypassword
  mypassword1 thepassword letmein1234 letmein123 welcome123 welcome1234 welcome2024 welcome2025
  welcome2026 iloveyou12 iloveyou123 iloveyou1234 iloveyouall iloveyou2! iloveyousomuch ilovemymom
  iloveyoubaby iloveyou4ever administrator administrator1 admin12345 admin123456 adminadmin
  adminadmin1 rootrootroot changeme123 changemeplease secret12345 supersecret supersecret1
  trustno1234 superman123 batman12345 spiderman1 spiderman123 starwars123 pokemon1234 minecraft1
  minecraft123 football12 football123 baseball12 baseball123 basketball basketball1 basketball12
  liverpool1 liverpool123 manchester manchester1 chelsea1234 barcelona1 barcelona123 realmadrid
  realmadrid1 juventus1897 sunshine12 sunshine123 princess12 princess123 butterfly1 butterfly123
  chocolate1 chocolate123 strawberry strawberry1 watermelon watermelon1 blueberry1 cheesecake
  christmas1 christmas123 halloween1 summer2024! summer12345 winter12345 monkey12345 dragon12345
  shadow12345 master12345 michael123 jennifer123 jessica123 samantha12 alexander1 alexander123
  alexandra1 christopher christopher1 christine1 elizabeth1 elizabeth123 charlotte1 computer12
  computer123 internet12 internet123 samsung123 samsung1234 samsunggalaxy nintendo64 playstation
  playstation3 playstation4 playstation5 counterstrike worldofwarcraft leagueoflegends abcdefghij
  abcdefghijk abcdefghijklm abcd123456 abcde12345 abc123456789 abc1234567 abcabcabc1 aaaaaaaaa1
  google12345 facebook12 facebook123 youtube123 instagram1 instagram123 whatsapp123 telegram123
  myspace123 linkedin123 qwerty789456 0123456789a 00000000001 10203040506 13579246810 1357924680
  2468013579 1q1q1q1q1q 1a1a1a1a1a q1q1q1q1q1 1234qwerasdf 1234qwer1234 qwer1234qwer qwer12345678
  asdf12345678 asdf1234567 zxcv12345678 gfhjkm12345 gfhjkm1234 gfhjkmgfhjkm ghbdtn12345 ghbdtn1234
  ghbdtnghbdtn yfnfif12345 k.,bvfz1234 ljcneg12345 vfhbyf12345 fktrcfylh1 fktrcfylhf rfnthbyf1
  ytpyf.gfhjkm йцукенгшщз йцукенгшщзх йцукен12345 йцукен123456 йцукенйцукен йцукенгшщзхъ фывапролджэ
  фывапролдж фывапролд1 ячсмитьбю1 пароль1234 пароль12345 пароль123456 парольпароль мойпароль1
  мойпароль123 привет1234 привет12345 приветпривет любовь12345 солнышко12 солнышко123 россия12345
  россия2024 россия2025 россия2026 спартак1922 спартак123 зенит123456 москва12345 москва1234
  наташа12345 александр1 александр123 александра1 владимир12 владимир123 екатерина1 екатерина123
  privet12345 privetprivet parol12345 parol123456 parolparol moyparol12 lubimaya123 solnyshko1
  solnishko1 natasha123 aleksandr1 aleksandr123 ekaterina1 ekaterina123 vladimir12 vladimir123
  marseille13 marseille1 azertyuiop azerty12345 azerty123456 motdepasse motdepasse1 doudou12345
  passwort123 passwort12 hallo12345 schalke04! schatz12345 contraseña contrasena contrasena1
  contraseña1 teamo12345 holahola123 estrella123 tollgate123 tollgate1234 tollgatetollgate
  `
    .split(/\s+/)
    .filter((word) => word !== ''),
)

/** Rows of keyboards and alphabets; a piece of one, forwards or backwards, is easy to guess. */
const ROWS = [
  '01234567890123456789',
  'abcdefghijklmnopqrstuvwxyz',
  'qwertyuiop[]asdfghjklzxcvbnm,./',
  'абвгдеёжзийклмнопрстуфхцчшщъыьэюя',
  'йцукенгшщзхъфывапролджэячсмитьбю',
]

/** `plain` is in lower case. */
export function isCommon(plain: string): boolean {
  const stem = plain.replace(/[!.?*#_-]+$/, '')
  return LISTED.has(plain) || LISTED.has(stem) || isRepeated(plain) || isPieceOfRow(stem)
}

/** One to four characters over and over: "aaaaaaaaaa", "1212121212", "abcabcabcabc". */
function isRepeated(plain: string): boolean {
  return /^(.{1,4})\1+(.{0,3})$/su.test(plain) && new Set(plain).size <= 4
}

function isPieceOfRow(plain: string): boolean {
  const backwards = [...plain].reverse().join('')
  return ROWS.some((row) => row.includes(plain) || row.includes(backwards))
}
