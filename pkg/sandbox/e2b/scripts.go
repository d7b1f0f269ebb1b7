package e2b

// The scripts that run in the sandbox. They are for any POSIX shell, take what
// varies as arguments, and use no more than coreutils and mount; setpriv and
// setsid are used where they are.

// setupScript makes the world inside, as root. Its arguments are the bytes and
// inodes of the disk, those of the build disk or 0, and the targets of empty
// mounts, each behind w or r. It prints what it found, a word and a value a line.
const setupScript = `
set -f
bytes=$1 inodes=$2 buildbytes=$3 buildinodes=$4
shift 4
if grep -q '^sandbox:' /etc/passwd; then
	uid=$(id -u sandbox) gid=$(id -g sandbox)
else
	uid=1000
	while grep -q "^[^:]*:[^:]*:$uid:" /etc/passwd /etc/group; do uid=$((uid + 1)); done
	gid=$uid
	echo "sandbox:x:$gid:" >>/etc/group
	[ ! -e /etc/shadow ] || echo "sandbox:!:19000::::::" >>/etc/shadow
	echo "sandbox:x:$uid:$gid::/workspace:/bin/sh" >>/etc/passwd || exit 3
fi
[ "$uid" -gt 0 ] || exit 3
echo "uid $uid"
echo "gid $gid"

# place NAME TARGET OWNER MODE: a directory of the tmpfs $store, seen at TARGET.
place() {
	mkdir -p "$2" || exit 4
	if [ -n "$store" ]; then
		mkdir "$store/$1" && mount --bind "$store/$1" "$2" || exit 4
	fi
	chown "$3" "$2" && chmod "$4" "$2" || exit 4
}
# open NAME BYTES INODES: sets $store to a tmpfs of that size, or to nothing.
open() {
	store=/run/sandbox-run/$1
	mkdir -p "$store"
	chmod 700 /run/sandbox-run
	mount -t tmpfs -o "nosuid,nodev,mode=755,size=$2,nr_inodes=$3" sandbox "$store" 2>/dev/null || store=
}
open disk "$bytes" "$inodes"
[ -z "$store" ] || echo "disk tmpfs"
place workspace /workspace "$uid:$gid" 755
place tmp /tmp 0:0 1777
place shm /dev/shm 0:0 1777
if [ "$buildbytes" -gt 0 ]; then
	had=$store
	open build "$buildbytes" "$buildinodes"
	[ -z "$had" ] || [ -n "$store" ] || exit 4
	place build /build "$uid:$gid" 755
fi
n=0
while [ $# -gt 1 ]; do # what a compiler keeps is no file of the program's
	n=$((n + 1))
	if [ "$1" = w ]; then place "$n" "$2" "$uid:$gid" 755; else place "$n" "$2" 0:0 755; fi
	shift 2
done
mount -o remount,hidepid=2 /proc 2>/dev/null && echo "proc hidepid"
if hostname sandbox 2>/dev/null; then echo "name sandbox"; fi
if setpriv --no-new-privs true 2>/dev/null; then echo "setpriv yes"; fi
if command -v setsid >/dev/null; then echo "setsid yes"; fi
while read -r key value; do
	[ "$key" != oom_kill ] || echo "oom $value"
done </proc/vmstat
echo "page $(getconf PAGESIZE 2>/dev/null || echo 4096)"
echo "ready yes"
`

// launchScript becomes the program, as the sandbox's user. Its arguments are the
// limits of open files, processes, blocks of 512 bytes in a file and seconds of
// CPU time, each 0 for none; the directory; PATH; the program's name; yes where
// standard input is used; and the command that it ends in. What it says comes
// first on standard error: + or - and why not, on a line.
const launchScript = `
no() {
	printf -- '-%s\n' "$1" >&2
	exit 127
}
set -f
umask 022
nofile=$1 nproc=$2 blocks=$3 seconds=$4 dir=$5 path=$6 prog=$7 stdin=$8
shift 8
cd -P "$dir" 2>/dev/null || no dir
found=
case $prog in
*/*) found=$prog ;;
*)
	IFS=:
	for d in $path; do
		if [ -f "${d:-.}/$prog" ] && [ -x "${d:-.}/$prog" ]; then
			found=${d:-.}/$prog
			break
		fi
	done
	unset IFS
	;;
esac
[ -n "$found" ] && [ -e "$found" ] || no none
[ -f "$found" ] && [ -x "$found" ] || no denied
ulimit -c 0 2>/dev/null
[ "$blocks" = 0 ] || ulimit -f "$blocks" 2>/dev/null || no disk
[ "$seconds" = 0 ] || ulimit -t "$seconds" 2>/dev/null || no cpu_time
[ "$nofile" = 0 ] || ulimit -n "$nofile" 2>/dev/null || no open_files
[ "$nproc" = 0 ] || ulimit -u "$nproc" 2>/dev/null || ulimit -p "$nproc" 2>/dev/null || no processes
printf '+\n' >&2
[ "$stdin" = yes ] || exec </dev/null
exec "$@"
`

// watchScript prints what /proc/PID/stat says of a process until it has ended,
// also while envd has not reaped it because others hold its output open.
const watchScript = `
pid=$1 n=0
while :; do
	read -r stat 2>/dev/null <"/proc/$pid/stat" || break
	stat=${stat##*) }
	case $stat in [ZX]*) break ;; esac
	set -- $stat
	echo "stat ${12} ${13} ${14} ${15} ${22}"
	[ $((n % 20)) -ne 0 ] || stat -f -c 'disk %S %b %f %c %d' /workspace 2>/dev/null
	n=$((n + 1))
	sleep 0.05
done
`

// sweepScript kills every process of a user, as root, and tells how full the disks
// are and how often the kernel has killed for memory. kill(-1) by that user reaches
// all at once, however fast they fork. A program may kill the shell that does it, so
// root kills each one that it sees as well, until /proc shows that nobody is left.
const sweepScript = `
uid=$1 gid=$2 n=0
slay() {
	setpriv --reuid "$uid" --regid "$gid" --clear-groups /bin/sh -c 'kill -9 -1' 2>/dev/null ||
		su -s /bin/sh sandbox -c 'kill -9 -1' 2>/dev/null
}
alive() {
	found=1
	for dir in /proc/[0-9]*; do
		state='' owner=''
		while read -r key value rest; do
			case $key in
			State:) state=$value ;;
			Uid:)
				owner=$value
				break
				;;
			esac
		done <"$dir/status"
		[ "$owner" = "$uid" ] || continue
		case $state in [ZX]) continue ;; esac
		found=0
		kill -9 "${dir#/proc/}"
	done 2>/dev/null
	return $found
}
while slay; alive; do
	n=$((n + 1))
	[ $n -lt 100 ] || exit 1
	sleep 0.02
done
stat -f -c 'disk %S %b %f %c %d' /workspace 2>/dev/null
[ ! -d /build ] || stat -f -c 'build %S %b %f %c %d' /build 2>/dev/null
while read -r key value; do
	[ "$key" != oom_kill ] || echo "oom $value"
done </proc/vmstat
echo "swept yes"
`

// signalScript sends a signal to the group of a process, once, or to the process
// where there was no setsid to make it a group; as the sandbox's user.
const signalScript = `
kill -s "$1" -- "-$2" 2>/dev/null || kill -s "$1" -- "$2" 2>/dev/null
exit 0
`

// sealScript makes directories writable or not, as root: pairs of rw or ro and a
// path.
const sealScript = `
while [ $# -gt 1 ]; do
	mount -o "remount,bind,nosuid,nodev,$1" "$2" || exit 1
	shift 2
done
`

// modeScript changes the mode of files: a mode and paths.
const modeScript = `mode=$1; shift; chmod "$mode" -- "$@"`
