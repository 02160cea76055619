//! What kind of file system a store lies on.

use std::path::Path;

/// File systems whose locks or shared memory may not hold what SQLite and the gates' lock files rest on: the magic numbers
/// of statfs(2), and what people call them. Those of FUSE may be local; nobody can tell from here.
const DOUBTFUL: &[(u32, &str)] = &[
    (0x0000_6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB"),
    (0x0000_517b, "SMB"),
    (0x6573_5546, "FUSE, such as sshfs"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0bd0_0bd0, "Lustre"),
    (0x0116_1970, "GFS2"),
    (0x7461_636f, "OCFS2"),
];

/// The name of the network file system that this file lies on, if it does; also of one that may be one, such as FUSE.
///
/// There, a lock may be taken by two machines at once, and a write-ahead log needs memory that all processes share. Two
/// gates on two machines then damage the file or take each other for gone. Says nothing where it cannot tell, and on
/// other systems than Linux.
///
/// ```
/// assert_eq!(callgate_store::network_file_system(std::path::Path::new("/")), None);
/// ```
pub fn network_file_system(path: &Path) -> Option<&'static str> {
    name_of(magic(path)?)
}

fn name_of(magic: u32) -> Option<&'static str> {
    DOUBTFUL.iter().find(|(known, _)| *known == magic).map(|(_, name)| *name)
}

#[cfg(target_os = "linux")]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the kernel's numbers have 32 bits, whatever the field has"
)]
fn magic(path: &Path) -> Option<u32> {
    Some(rustix::fs::statfs(path).ok()?.f_type as u32)
}

#[cfg(not(target_os = "linux"))]
fn magic(_: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn network_file_systems_are_known_by_their_numbers_and_local_ones_are_not() {
        assert_eq!(name_of(0x6969), Some("NFS"));
        assert_eq!(name_of(0xff53_4d42), Some("CIFS"));
        assert_eq!(name_of(0x6573_5546), Some("FUSE, such as sshfs"));
        // ext4, xfs, btrfs, tmpfs, overlayfs, zfs.
        for local in [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0x2fc1_2fc1] {
            assert_eq!(name_of(local), None, "{local:x}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_kernel_is_asked() {
        assert_eq!(magic(Path::new("/proc")), Some(0x9fa0));
        assert_eq!(network_file_system(Path::new("/proc")), None);
        assert_eq!(network_file_system(Path::new("/no such file")), None);
    }
}
